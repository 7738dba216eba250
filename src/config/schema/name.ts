import { z } from "zod";
import { expects } from "./messages.ts";

const NAME = expects("a name of lower-case letters, digits and dashes, starting with a letter or digit");

/** A name that becomes a metric label and a part of a URL. */
export const Name = z.string(NAME).regex(/^[a-z0-9][a-z0-9-]*$/, NAME);

import { db } from "ponder:api";
import schema from "ponder:schema";
import { Hono } from "hono";
import { graphql } from "ponder";

const api = new Hono();
api.use("/graphql", graphql({ db, schema }));

// biome-ignore lint/style/noDefaultExport: Ponder reads the default export.
export default api;

import { endpointsOf, type Fleet } from "../core/model/fleet.ts";

interface RetiredService {
  readonly host: string;
  /** What the path of its URLs begins with. */
  readonly path: string;
  readonly what: string;
}

const RETIRED: readonly RetiredService[] = [
  // graphprotocol/docs: website/pages/en/sunrise.mdx
  {
    host: "api.thegraph.com",
    path: "/subgraphs/",
    what: "The Graph shut its hosted service down on 2024-06-12; use the subgraph's URL on the gateway",
  },
];

/** A sentence for each endpoint of a service that its provider has shut down. */
export function retiredServiceWarnings(fleet: Fleet): readonly string[] {
  return endpointsOf(fleet).flatMap(({ key, url }) => {
    const { host, pathname } = new URL(url);
    const retired = RETIRED.find((service) => service.host === host && pathname.startsWith(service.path));
    return retired === undefined ? [] : [`${key}: ${retired.what}`];
  });
}

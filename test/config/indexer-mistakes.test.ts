import { describe, expect, it } from "vitest";
import { problemsOf } from "./problems-of.ts";

describe("parseConfig()", () => {
  it.each([
    {
      mistake: "auto-without-room",
      problems: [
        '10:7: protocols.lockup[0].schedule: Cannot stay within budget "gateway": 2 endpoints × 4 a day × 30.4 days = 243 > 9, nine tenths of 10 a month, even with auto at every 6 h',
      ],
    },
    {
      mistake: "bad-braces",
      problems: [
        `11:12: protocols.lockup[0].url: Cannot parse braces: expected {name}, \${VARIABLE} or \${file:/path}, closed and not nested`,
      ],
    },
    {
      mistake: "bad-cron",
      problems: [
        '9:17: protocols.lockup[0].schedule: Cannot use schedule "61 * * * * *": 61 is not a valid expression for second',
      ],
    },
    {
      mistake: "bad-custom",
      problems: [
        "6:7: protocols.airdrops[0]: Cannot use dialect custom without a block custom: expected custom: { query, height }",
        "12:7: protocols.airdrops[1].custom: Cannot use custom with dialect graph: expected dialect: custom",
        "17:7: protocols.airdrops[2].custom.height: Cannot find required key: expected a path such as indexer.blocks.0.number",
        '17:41: protocols.airdrops[2].custom.heigth: Cannot use unknown key "heigth": did you mean "height"?',
        '22:49: protocols.airdrops[3].custom.height: Cannot use "data[0]": expected a path such as indexer.blocks.0.number',
        "22:66: protocols.airdrops[3].custom.time: Cannot use 7: expected a path such as indexer.blocks.0.number",
        "28:24: protocols.airdrops[4].custom.query: Cannot use 7: expected a GraphQL query",
        "33:7: protocols.airdrops[5].custom.query: Cannot find required key: expected a GraphQL query",
      ],
    },
    {
      mistake: "bad-deployment",
      problems: [
        "11:15: protocols.airdrops[0].chains.base: Cannot find the deployment of chain base: expected base: { deployment: Qm… }, the id that dialect graph-status asks for",
        '12:32: protocols.airdrops[0].chains.sepolia.deployment: Cannot use "Qm 1" as a deployment: expected sepolia: { deployment: Qm… }, the id that dialect graph-status asks for',
        "16:16: protocols.airdrops[1].chains[0]: Cannot find the deployment of chain base: expected base: { deployment: Qm… }, the id that dialect graph-status asks for",
        '21:17: protocols.airdrops[2].chains.base.deployment: Cannot use unknown key "deployment": no template uses {deployment}',
      ],
    },
    {
      mistake: "bad-status",
      problems: [
        "8:7: protocols.airdrops[0].status: Cannot use status with dialect auto: expected dialect: graph",
        "13:7: protocols.airdrops[1].status: Cannot use status for an endpoint of 2 chains: expected a url with a placeholder, so that each chain has its own",
        "18:7: protocols.airdrops[2].status.url: Cannot find required key: expected an http:// or https:// URL",
        "18:7: protocols.airdrops[2].status.deployment: Cannot find required key: expected the id of a deployment, or a placeholder such as {deployment}",
        '18:17: protocols.airdrops[2].status.urll: Cannot use unknown key "urll": did you mean "url"?',
        "23:22: protocols.airdrops[3].status.url: Cannot use this URL: expected http:// or https://, found no scheme",
        '23:62: protocols.airdrops[3].status.deployment: Cannot use "Qm 1" as the deployment of chain base: expected an id such as Qm…',
        '27:9: protocols.airdrops[3].chains.sepolia.deployment: Cannot fill {deployment} in deployment: chain sepolia has no value "deployment"',
        '27:29: protocols.airdrops[3].chains.sepolia.deploymnet: Cannot use unknown key "deploymnet": no template uses {deploymnet}: did you mean "deployment"?',
        "30:22: protocols.airdrops[4].status.url: Cannot resolve this value: NO_SUCH_KEY is not set; set it, or add optional: true to the indexer",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the message shows the form of a variable.
        "30:77: protocols.airdrops[4].status.deployment: Cannot use ${…} here: variables work only in url, headers and rpc",
      ],
    },
    {
      mistake: "bad-explorer",
      problems: [
        "14:17: protocols.lockup[0].explorer: Cannot use this URL: expected http:// or https://, found no scheme",
      ],
    },
    {
      mistake: "bad-headers",
      problems: [
        "12:18: protocols.lockup[0].headers[secret]: Cannot use this header name: expected letters, digits and dashes",
        "12:32: protocols.lockup[0].headers.Content-Type: Cannot set header Content-Type: Synclag sets it for each request",
        "12:58: protocols.lockup[0].headers.X-Lines: Cannot send the value of header X-Lines: it contains a line break or a character beyond Latin-1",
        "12:85: protocols.lockup[0].headers.X-Number: Cannot use a number: expected a string; put numbers in quotes",
        "12:88: protocols.lockup[0].headers.accept-encoding: Cannot set header accept-encoding: Synclag sets it for each request",
        "12:119: protocols.lockup[0].headers.X-A: Cannot set header X-A beside x-a: upper and lower case make no difference",
      ],
    },
    {
      mistake: "bad-variable",
      problems: [
        `12:33: protocols.lockup[0].headers.Authorization: Cannot parse \${…}: expected \${VARIABLE} or \${file:/path}`,
      ],
    },
    {
      mistake: "chain-as-list",
      problems: [
        "15:15: protocols.lockup[0].chains.base: Cannot use a list: expected a map of placeholder values and overrides",
      ],
    },
    {
      mistake: "chains-as-text",
      problems: [
        '9:15: protocols.lockup[0].chains: Cannot use "base, sepolia": expected a list of chain slugs, or a map of them',
      ],
    },
    {
      mistake: "duplicate-chain",
      problems: ['9:31: protocols.lockup[0].chains[2]: Cannot list chain "base" twice'],
    },
    {
      mistake: "duplicate-indexer",
      problems: [
        "10:16: protocols.lockup[1].variant: Cannot list lockup/multichain/production twice: give one of them another variant or tier",
      ],
    },
    {
      mistake: "empty-chains",
      problems: [
        "9:15: protocols.lockup[0].chains: Cannot use an empty list of chains: expected at least one",
      ],
    },
    {
      mistake: "empty-file",
      problems: [
        "12:33: protocols.lockup[0].headers.Authorization: Cannot use /run/secrets/empty: the file is empty",
      ],
    },
    {
      mistake: "empty-variable",
      problems: [
        "12:33: protocols.lockup[0].headers.Authorization: Cannot resolve this value: EMPTY_KEY is empty; set it, or add optional: true to the indexer",
      ],
    },
    {
      mistake: "five-fields",
      problems: [
        '9:17: protocols.lockup[0].schedule: Cannot use schedule "*/5 * * * *": found five fields, expected six fields, seconds first, such as */15 * * * * *; add the seconds: "0 */5 * * * *"',
      ],
    },
    {
      mistake: "fixed-schedule-over-budget",
      problems: [
        '14:17: protocols.lockup[0].schedule: Cannot stay within budget "gateway": 2 endpoints × 1,440 a day × 30.4 days = 87,552 > 80,000 a month; the fastest that fits is every 2 min',
      ],
    },
    {
      mistake: "fixed-schedule-over-endpoint-budget",
      problems: [
        '14:17: protocols.lockup[0].schedule: Cannot stay within budget "studio": 1 endpoint × 5,760 a day = 5,760 > 3,000 a day; the fastest that fits is every 30 s',
      ],
    },
    {
      mistake: "one-url-over-endpoint-budget",
      problems: [
        '12:17: protocols.lockup[0].schedule: Cannot stay within budget "studio": 1 endpoint × 1,440 a day + 1 endpoint × 2,880 a day = 4,320 > 3,000 a day; the fastest that fits is every 1 min',
      ],
    },
    {
      mistake: "gateway-key-in-path",
      problems: [
        "11:12: protocols.lockup[0].url: Cannot use this key with The Graph's gateway: expected 32 hexadecimal characters, found 32, 1 of them not hexadecimal",
      ],
    },
    {
      mistake: "gateway-key-too-short",
      problems: [
        "12:33: protocols.lockup[0].headers.Authorization: Cannot use this key with The Graph's gateway: expected 32 hexadecimal characters, found 23, 4 of them not hexadecimal",
      ],
    },
    {
      mistake: "gateway-without-bearer",
      problems: [
        '12:33: protocols.lockup[0].headers.Authorization: Cannot use this with The Graph\'s gateway: expected "Bearer KEY"',
      ],
    },
    {
      mistake: "header-placeholder",
      problems: [
        "12:64: protocols.lockup[0].headers.X-Chain: Cannot use placeholders in a header: they work only in url, explorer and playground",
      ],
    },
    {
      mistake: "misplaced-variable",
      problems: [
        `13:15: protocols.lockup[0].budget: Cannot use \${…} here: variables work only in url, headers and rpc`,
        `16:24: protocols.lockup[0].chains.sepolia.id: Cannot use \${…} here: variables work only in url, headers and rpc`,
        `17:9: listen: Cannot use \${…} here: variables work only in url, headers and rpc`,
      ],
    },
    {
      mistake: "never-fires",
      problems: ['9:17: protocols.lockup[0].schedule: Cannot use schedule "0 0 0 31 2 *": it never fires'],
    },
    {
      mistake: "no-url",
      problems: [
        "7:7: protocols.lockup[0].url: Cannot find required key: expected an http:// or https:// URL",
      ],
    },
    {
      mistake: "no-variant",
      problems: [
        "7:7: protocols.lockup[0].variant: Cannot find required key: expected a name of lower-case letters, digits and dashes, starting with a letter or digit",
      ],
    },
    {
      mistake: "nonsense-cron",
      problems: [
        '9:17: protocols.lockup[0].schedule: Cannot use schedule "every minute": expected auto, or six fields, seconds first, such as */15 * * * * *',
      ],
    },
    {
      mistake: "placeholder-in-list",
      problems: [
        '14:16: protocols.lockup[0].chains[0].id: Cannot fill {id} in url: chain base has no value "id"; use {chain_id} for the chain\'s number',
      ],
    },
    {
      mistake: "placeholder-without-value",
      problems: [
        '16:9: protocols.lockup[0].chains.sepolia.id: Cannot fill {id} in url: chain sepolia has no value "id"; use {chain_id} for the chain\'s number',
      ],
    },
    {
      mistake: "query-as-dialect",
      problems: [
        "8:16: protocols.lockup[0].dialect: Cannot use a GraphQL query here: each dialect but custom sends its own queries; also, { _meta: { … } } is not valid GraphQL: it takes no colon there",
      ],
    },
    {
      mistake: "query-as-url",
      problems: [
        "8:12: protocols.lockup[0].url: Cannot use a GraphQL query here: each dialect but custom sends its own queries",
      ],
    },
    {
      mistake: "query-key",
      problems: [
        "9:7: protocols.lockup[0].query: Cannot use a GraphQL query here: each dialect but custom sends its own queries; also, { _meta: { … } } is not valid GraphQL: it takes no colon there",
      ],
    },
    {
      mistake: "reserved-value",
      problems: ['16:29: protocols.lockup[0].chains.sepolia.chain: Cannot set "chain": {chain} is built in'],
    },
    {
      mistake: "unknown-budget",
      problems: [
        '13:15: protocols.lockup[0].budget: Cannot find budget "gatway" in budgets: did you mean "gateway"?',
        '16:37: protocols.lockup[0].chains.sepolia.budget: Cannot find budget "studios" in budgets: did you mean "studio"?',
      ],
    },
    {
      mistake: "unknown-chain",
      problems: [
        '9:16: protocols.lockup[0].chains[0]: Cannot find chain "bas" in chains: did you mean "base"?',
        '9:21: protocols.lockup[0].chains[1]: Cannot find chain "ethereum" in chains',
      ],
    },
    {
      mistake: "unknown-dialect",
      problems: [
        '8:16: protocols.lockup[0].dialect: Cannot use "hasura": expected one of auto, graph, envio, ponder, squid, subquery, graph-status, custom',
      ],
    },
    {
      mistake: "unreadable-file",
      problems: [
        "12:33: protocols.lockup[0].headers.Authorization: Cannot read /run/secrets/none: ENOENT: no such file or directory, open '/run/secrets/none'",
      ],
    },
    {
      mistake: "unset-variable",
      problems: [
        "12:33: protocols.lockup[0].headers.Authorization: Cannot resolve this value: UNSET_KEY is not set; set it, or add optional: true to the indexer",
      ],
    },
    {
      mistake: "unused-value",
      problems: [
        '16:29: protocols.lockup[0].chains.sepolia.explore: Cannot use unknown key "explore": no template uses {explore}: did you mean "explorer"?',
        '16:44: protocols.lockup[0].chains.sepolia.region: Cannot use unknown key "region": no template uses {region}',
      ],
    },
    {
      mistake: "url-of-other-scheme",
      problems: [
        "8:12: protocols.lockup[0].url: Cannot use this URL: expected http:// or https://, found ws:",
      ],
    },
    {
      mistake: "url-without-scheme",
      problems: [
        "8:12: protocols.lockup[0].url: Cannot use this URL: expected http:// or https://, found no scheme",
      ],
    },
    {
      mistake: "value-as-map",
      problems: [
        "16:24: protocols.lockup[0].chains.sepolia.id: Cannot use a map as a placeholder's value: expected a string or a number",
      ],
    },
  ])("reports $mistake", ({ mistake, problems }) => {
    expect(problemsOf(mistake)).toEqual(problems);
  });
});

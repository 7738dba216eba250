import { healthJson } from "../src/views/api/health.ts";
import { apiMarkdown } from "../src/views/api/openapi.ts";
import { sampleReport } from "../test/views/sample-report.ts";

/** `docs/api.md`: the routes, from the OpenAPI document. */
export function apiPage(): string {
  const [, about = "", ...routes] = apiMarkdown()
    .replace(USUAL, "")
    .replace(/Replies:\s*(?=##|$)/g, "")
    .split("\n\n");
  const health = healthJson(sampleReport(), { protocol: "lockup", chain: "base", max_lag: 60 });
  return `# The HTTP API

<!-- Made by \`npm run generate\` from src/views/api/openapi.ts. -->

How does a program ask Synclag?

${about.replace(/ Programs .*/, "")}
\`--web-config\` adds TLS, users and passwords to every route but \`/public\` and the badges.

\`\`\`text
$ curl -s 'http://127.0.0.1:9855/api/v1/health/lockup/base?max_lag=60'
${JSON.stringify(health).replace(/,(?="(?:max_lag_seconds|freshest|block_number|why|targets)")/g, ",\n")}
\`\`\`

Errors are problem details (RFC 9457): \`{"type", "title", "status", "detail"}\`. An invalid or
unknown parameter is 400; for an unknown protocol or chain the reply is 404, and the detail lists the
names that exist. Times are ISO 8601 in UTC, durations are seconds, unknown values are \`null\`. [What may
change](UPGRADING.md#what-is-stable-in-0x)

${withParametersOnce(routes).join("\n\n")}
`;
}

/** Replies that many routes have. The introduction describes them. */
const USUAL = /^- (?:400: A parameter is invalid|404: A name does not exist; .*)\n?/gm;

/** The routes; a parameter that was described before is only named. */
function withParametersOnce(blocks: readonly string[]): readonly string[] {
  const described = new Set<string>();
  return blocks.map((block) => {
    const lines = block
      .replace(USUAL, "")
      .replace(/\n\nReplies:\s*$/, "")
      .split("\n");
    const known = lines.flatMap((line) => (described.has(line) ? [line.slice(2, line.indexOf(":"))] : []));
    const rest = lines.filter((line) => !described.has(line));
    for (const line of rest.filter((line) => line.startsWith("- `"))) {
      described.add(line);
    }
    return [...(known.length === 0 ? [] : [`- ${known.join(", ")}: as above`]), ...rest].join("\n");
  });
}

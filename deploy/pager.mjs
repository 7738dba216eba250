// A stand-in for a pager: prints each message from Alertmanager, or from Grafana if that sends the alerts. Replace it with yours.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const PORT = 9911;

createServer(async (request, response) => {
  const { alerts } = await json(request);
  response.end();
  for (const { status, labels, annotations } of request.url === "/alive" ? [] : alerts) {
    process.stdout.write(
      `${request.url} ${status} ${labels.severity} ${labels.alertname}: ${annotations.summary ?? ""}\n`,
    );
  }
}).listen(PORT);

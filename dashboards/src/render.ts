import { writeFileSync } from "node:fs";
import { renderFleetDashboard } from "./fleet-dashboard.ts";

writeFileSync(new URL("../synclag-fleet.json", import.meta.url), renderFleetDashboard());

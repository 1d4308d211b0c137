import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually, patience } from "../support/eventually.js";
import { isPrometheusThere, promtool, type RunningPrometheus, startPrometheus } from "../support/prometheus.js";
import { startTestService, type TestService } from "../support/service.js";
import { busyPage } from "./busy-pages.js";
import { readAlertRules, readDashboardExpressions } from "./expressions.js";

const reason = isPrometheusThere ? "" : " (Prometheus is not installed: Debian's package prometheus)";

describe.skipIf(!isPrometheusThere)(`promtool${reason}`, () => {
  test("accepts the configuration with its rules", async () => {
    const { code, printed } = await promtool(["check", "config", "prometheus.yml"]);
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringContaining("14 rules found") });
  });

  test("confirms that each alert fires when it should, and not before", async () => {
    const { code, printed } = await promtool(["test", "rules", "alerts.test.yml"]);
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringContaining("SUCCESS") });
  });
});

describe.skipIf(!isPrometheusThere)(`a Prometheus that scrapes a service${reason}`, () => {
  let service: TestService;
  let prometheus: RunningPrometheus;
  let page: string;

  beforeAll(async () => {
    service = await startTestService({}, { isProxied: true });
    prometheus = await startPrometheus(new URL(service.internalUrl).host);
    page = (await busyPage(service)).text;
  });

  afterAll(async () => {
    await prometheus.stop();
    await service.close();
  });

  test("parses each line of the page", async () => {
    const { printed } = await promtool(["check", "metrics"], page);
    const ofConventions =
      /^db_client_connection_count non-histogram and non-summary metrics should not have "_count" suffix$/;
    expect(printed.split("\n").filter((line) => line !== "" && !ofConventions.test(line))).toEqual([]);
  });

  test("shows that it is up, with counts of its calls", async () => {
    await eventually(async () => (await valueOf('sum(cupo_idempotency_replays_total{job="cupo"})')) === 1);
    await eventually(async () => (await valueOf('up{job="cupo"}')) === 1);
    await eventually(async () => (await valueOf("cupo_ready")) === 1);
    await vi.waitFor(async () => {
      const { activeTargets } = (await prometheus.ask("targets")) as { activeTargets: { lastError: string }[] };
      expect(activeTargets.map(({ lastError }) => lastError)).toEqual([""]);
    }, patience);
  });

  test("evaluates the rules without an error, and fires no alert for a healthy service", async () => {
    await eventually(async () => (await rules()).every(({ health }) => health !== "unknown"));
    expect((await rules()).filter(({ health }) => health !== "ok")).toEqual([]);
    const active = (await rules()).filter(({ state }) => state === "firing").map(({ name }) => name);
    expect(active).toEqual([]);
  });

  test.each([...readAlertRules().map(({ alert, expr }) => ({ place: alert, expr })), ...readDashboardExpressions()])(
    "evaluates $place",
    async ({ expr }) => {
      expect(await prometheus.ask("query", { query: expr })).toMatchObject({ resultType: "vector" });
    },
  );

  test.each(readDashboardExpressions().filter(({ expr }) => !expr.includes("keyset")))(
    "has data for $place",
    async ({ expr }) => {
      await eventually(async () => (await valueOf(expr)) !== undefined);
      expect(await valueOf(expr)).toBeDefined();
    },
  );

  /** Returns the value of the first series of an instant vector. Undefined if there is none. */
  async function valueOf(query: string): Promise<number | undefined> {
    const { result } = (await prometheus.ask("query", { query })) as { result: { value: [number, string] }[] };
    return result[0] === undefined ? undefined : Number(result[0].value[1]);
  }

  async function rules() {
    const { groups } = (await prometheus.ask("rules")) as {
      groups: { rules: { name: string; health: string; state: string }[] }[];
    };
    return groups.flatMap((group) => group.rules);
  }
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { defaultLimits } from "../../src/http/limits.js";
import { readConfig } from "../../src/settings/config.js";
import { settings } from "../../src/settings/settings.js";
import { complaintsAbout, type Manifest, manifestOf, readManifests } from "./manifests.js";

/** Files that are applied by hand: secrets, and the migration of each release. */
const BY_HAND = new Set(["migrate-job.yaml", "secret.example.yaml"]);
/** Seconds that the process needs to stop after it has drained. */
const GRACE_SECONDS = 10;
const LISTENERS = 2;
/** Memory per connection. Measured: 1,000 idle HTTP/2 sessions add 16 MiB to a process. */
const CONNECTION_BYTES = 18 * 1024;
/** The most memory of a busy process apart from connections and unread data (docs/operate/deploy.md). */
const BUSY_MEBIBYTES = 250;
/** Settings of the image. */
const OF_THE_IMAGE = { HOST: "0.0.0.0", INTERNAL_HOST: "0.0.0.0" };

interface Container {
  readonly envFrom: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly [probe: string]: unknown;
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly [Container];
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly terminationGracePeriodSeconds?: number;
    readonly automountServiceAccountToken: boolean;
  };
}

describe("the Kubernetes manifests", () => {
  const manifests = readManifests();

  test("conform to the schemas of their kinds, without unknown members", async () => {
    expect(manifests.length).toBeGreaterThan(8);
    expect(await complaintsAbout(manifests)).toBe("");
  });

  test("would be reported with a misspelt, missing or wrongly typed member", async () => {
    const deployment = JSON.stringify(manifestOf("Deployment"));
    const change = (from: string, to: string): Manifest => JSON.parse(deployment.replace(from, to));
    for (const defect of [
      change('"readinessProbe"', '"readinessProb"'),
      change('"containerPort":8080', '"containerPort":"8080"'),
      change('"selector"', '"select"'),
    ]) {
      expect(await complaintsAbout([defect])).toMatch(/error TS2\d+/);
    }
  });

  test("are all listed in the kustomization, except those applied by hand", () => {
    const text = readFileSync(new URL("../../deploy/kubernetes/kustomization.yaml", import.meta.url), "utf8");
    const { resources }: { resources: string[] } = parse(text);
    const others = manifests.map(({ file }) => file).filter((file) => !BY_HAND.has(file));
    expect(resources.toSorted()).toEqual([...new Set(others)].toSorted());
  });

  test("contain only known, valid settings, and give the owner's URL to the migration only", () => {
    const config = dataOf(manifestOf("ConfigMap"));
    const secret = dataOf(manifestOf("Secret", "cupo-service"));
    expect(readConfig({ ...OF_THE_IMAGE, ...config, ...secret })).toMatchObject({ drainSeconds: 15 });
    const known = new Set(Object.values(settings).map(({ name }) => name));
    expect(Object.keys({ ...config, ...secret }).filter((name) => !known.has(name))).toEqual([]);
    expect(sourcesOf("Deployment")).toEqual(["cupo", "cupo-service"]);
    expect(sourcesOf("Job", "cupo-migrate")).toEqual(["cupo", "cupo-service", "cupo-owner"]);
    expect(Object.keys(dataOf(manifestOf("Secret", "cupo-owner")))).toEqual(["MIGRATION_DATABASE_URL"]);
  });

  test("give a pod enough time to drain, and probe readiness more often than that", () => {
    const { spec } = templateOf("Deployment");
    const drainSeconds = Number(dataOf(manifestOf("ConfigMap"))["DRAIN_SECONDS"]);
    expect(spec.terminationGracePeriodSeconds).toBe(drainSeconds + GRACE_SECONDS);
    const [container] = spec.containers;
    expect(container["readinessProbe"]).toMatchObject({ httpGet: { path: "/readyz", port: "internal" } });
    for (const probe of ["startupProbe", "livenessProbe"])
      expect(container[probe]).toMatchObject({ httpGet: { path: "/livez", port: "internal" } });
    const { periodSeconds, failureThreshold, timeoutSeconds } = container["readinessProbe"] as Record<string, number>;
    expect((Number(periodSeconds) + Number(timeoutSeconds)) * Number(failureThreshold)).toBeLessThan(drainSeconds / 2);
  });

  test("give a pod more memory than clients can occupy within the limits of the listeners", () => {
    const [container] = templateOf("Deployment").spec.containers;
    const { limits } = container["resources"] as { readonly limits: { readonly memory: string } };
    const secret = dataOf(manifestOf("Secret", "cupo-service"));
    const { connections } = readConfig({ ...OF_THE_IMAGE, ...dataOf(manifestOf("ConfigMap")), ...secret });
    const listenerBytes = defaultLimits.maxUnreadBytes + connections.maxConnections * CONNECTION_BYTES;
    const mebibytes = (LISTENERS * listenerBytes) / 2 ** 20 + BUSY_MEBIBYTES;
    expect(mebibytes).toBeLessThan(Number(/^(\d+)Mi$/.exec(limits.memory)?.[1]));
  });

  test.each([
    ["Deployment", "cupo"],
    ["Job", "cupo-migrate"],
  ])("give the %s %s no unnecessary rights", (kind, name) => {
    const { spec } = templateOf(kind, name);
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("select the pods of the service and use its ports", () => {
    const { metadata, spec } = templateOf("Deployment");
    for (const [kind, name] of [
      ["PodDisruptionBudget"],
      ["NetworkPolicy"],
      ["Service"],
      ["Service", "cupo-internal"],
    ] as const) {
      const { spec: of } = manifestOf(kind, name) as unknown as { spec: Record<string, Record<string, unknown>> };
      const selector = kind === "Service" ? of["selector"] : (of["selector"] ?? of["podSelector"])?.["matchLabels"];
      expect(metadata.labels).toMatchObject(selector as Record<string, string>);
    }
    expect(spec.containers[0].ports).toEqual([
      { name: "public", containerPort: 8080 },
      { name: "internal", containerPort: 9090 },
    ]);
  });

  test("allow only the named clients to reach the internal listener", () => {
    const { ingress } = manifestOf("NetworkPolicy")["spec"] as {
      ingress: { from: object[]; ports: { port: number }[] }[];
    };
    const internal = ingress.filter(({ ports }) => ports.some(({ port }) => port === 9090));
    expect(internal.map(({ from }) => from)).toEqual([
      [
        { podSelector: { matchLabels: { "cupo-internal-client": "true" } } },
        { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } },
      ],
    ]);
    expect(ingress.every(({ from, ports }) => from.length > 0 && ports.length > 0)).toBe(true);
  });
});

function templateOf(kind: string, name?: string): PodTemplate {
  return (manifestOf(kind, name)["spec"] as { template: PodTemplate }).template;
}

function sourcesOf(kind: string, name?: string): string[] {
  return templateOf(kind, name).spec.containers[0].envFrom.flatMap((source) =>
    Object.values(source).map((reference) => reference.name),
  );
}

function dataOf(manifest: Manifest): Record<string, string> {
  return (manifest["data"] ?? manifest["stringData"]) as Record<string, string>;
}

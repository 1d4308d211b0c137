/** Compiles the benchmark, because Node.js 20 cannot run TypeScript. The measured package is its build in dist. */
import { rolldown } from "rolldown";

const folder = "packages/connect-rest/bench";
const bundle = await rolldown({
  input: { rate: `${folder}/rate.ts`, contestants: `${folder}/contestants.ts` },
  platform: "node",
  external: /^(?:node:|@|fastify$)/,
});
await bundle.write({ dir: "build/connect-rest-bench", format: "esm", entryFileNames: "[name].js" });

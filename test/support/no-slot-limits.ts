import type { SlotLimits } from "../../src/services/schedule/plan-budget.js";

/** More slots than anybody has, for whoever composes services. */
export const noSlotLimits: SlotLimits = { perPlan: 1_000_000_000, perTenant: 1_000_000_000 };

import { messageValidatorOf } from "../../src/interceptors/validation/validate-message.js";
import type { OptionTokens } from "../../src/option-tokens/option-tokens.js";
import type { WatchPorts } from "../../src/services/events/watch-events.js";
import type { ServicePorts } from "../../src/services/services.js";
import { testNow } from "./clock.js";

const refuse = () => {
  throw new Error("no option tokens here");
};
const noTokens: OptionTokens = {
  seal: refuse,
  sealHeld: refuse,
  open: () => Promise.resolve({ kind: "INVALID" }),
};
const noEventsHere = () => Promise.reject(new Error("no events here"));
const noEvents: WatchPorts = {
  hub: { watch: noEventsHere, read: noEventsHere, findOldest: noEventsHere },
  heartbeatMs: 1_000,
};

/**
 * Ports for services whose tests need neither options nor events. The slot limits are never reached; the visit margins
 * are the defaults of the settings.
 */
export const barePorts: ServicePorts = {
  now: testNow,
  tokens: noTokens,
  isOperator: () => true,
  slotLimits: { perPlan: 1_000_000_000, perTenant: 1_000_000_000 },
  holdsPerPrincipal: 200,
  visitMargins: { checkInEarlyMinutes: 240, attendedEarlyMinutes: 60, noShowGraceMinutes: 15 },
  events: noEvents,
  webhooks: { refusalOf: () => undefined, newSecret: () => "whsec_test", seal: () => "sealed" },
  validatorOf: messageValidatorOf,
};

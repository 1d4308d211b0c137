import type { ReadyCall } from "../../call.js";
import { conflict } from "../../errors.js";
import type { HoldService, ListHoldsRequestValid } from "../../gen/cupo/clinic/v1/hold_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { releaseHolds } from "../../postgres/tables/holds/end-holds.js";
import { findHold, type HoldRecord, isLiveHold, listLiveHolds, lockHold } from "../../postgres/tables/holds/holds.js";
import { findOfferedSlot } from "../../postgres/tables/holds/offerable-slots.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound } from "../resources/preconditions.js";
import { runOrTry } from "../resources/run-or-try.js";
import { toAppointmentHold } from "./hold-messages.js";
import { holdOption } from "./hold-option.js";

/** The dependencies of the service for holds. */
export interface HoldPorts {
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly tokens: OptionTokens;
  /** The highest number of holds that a principal can have at a time. Ended and expired holds do not count. */
  readonly holdsPerPrincipal: number;
}

type HeldClaims = Omit<OptionClaims, "jti" | "holdId" | "expiresAtMs">;

const DEFAULT_MINUTES = 5;

/**
 * Creates the service that holds appointment options. It compares the time of expiry of a hold with its clock, so no
 * job needs to end expired holds.
 */
export function createHoldService(ports: HoldPorts): Implementation<typeof HoldService> {
  const { now, tokens, holdsPerPrincipal } = ports;
  return {
    async holdAppointmentOption(request, call) {
      const { optionToken, alternativeOptionTokens, minutes = DEFAULT_MINUTES, validateOnly } = request;
      const open = (token: string) => tokens.open(token, call.principal);
      const [token, ...alternatives] = await Promise.all([open(optionToken), ...alternativeOptionTokens.map(open)]);
      const terms = { minutes, perPrincipal: holdsPerPrincipal, nowMs: now() };
      const held = await runOrTry(call, validateOnly, () => holdOption(token, alternatives, call, terms));
      const heldToken = validateOnly === true ? undefined : sealed(held, call, tokens);
      return { hold: toAppointmentHold(held.hold, terms.nowMs, heldToken) };
    },
    async releaseHold({ holdId }, call) {
      const nowMs = now();
      return { hold: toAppointmentHold(await release(holdId, call, nowMs), nowMs) };
    },
    async getHold({ holdId }, call) {
      const [found, slot] = await Promise.all([
        findHold(call.transaction, holdId),
        findOfferedSlot(call.transaction, holdId),
      ]);
      const [hold, nowMs] = [requireFound(found, "holdId"), now()];
      const isOffered = slot !== undefined && isLiveHold(hold, nowMs);
      const token = isOffered ? sealed({ hold, option: offeredOption(hold, slot) }, call, tokens) : undefined;
      return { hold: toAppointmentHold(hold, nowMs, token) };
    },
    async listHolds(request, call) {
      return listPage(request, call, now());
    },
  };
}

/**
 * Returns the option that an offer holds. An offer is a hold for a waitlist entry. Each caller who reads the offer gets
 * a token of this option.
 */
function offeredOption(
  { slotId, serviceId, locationId, patientId, startsAt, endsAt }: HoldRecord,
  slot: Pick<OptionClaims, "generation" | "emergency">,
) {
  const subject = { kind: "PATIENT", id: patientId } as const;
  const minutes = (endsAt.getTime() - startsAt.getTime()) / 60_000;
  return { ...slot, slotId, serviceId, locationId, subject, minutes, visitMinutes: undefined };
}

function sealed(
  { hold, option }: { readonly hold: HoldRecord; readonly option: HeldClaims },
  call: ReadyCall,
  tokens: OptionTokens,
): string {
  return tokens.sealHeld({ ...option, holdId: hold.id, expiresAtMs: hold.expiresAt.getTime() }, call.principal);
}

async function release(holdId: string, call: ReadyCall, nowMs: number): Promise<HoldRecord> {
  const hold = requireFound(await lockHold(call.transaction, holdId), "holdId");
  if (!isLiveHold(hold, nowMs))
    throw conflict({ code: "STATE_NOT_ALLOWED", field: "holdId", message: "the hold has ended" });
  const endedAt = new Date(nowMs);
  releaseHolds(call.transaction, [hold], endedAt);
  call.effects.push({ resourceType: "AppointmentHold", resourceId: hold.id, action: "UPDATE" });
  return { ...hold, endedAt };
}

async function listPage(request: ListHoldsRequestValid, call: ReadyCall, nowMs: number) {
  const { patientId, practitionerId, waitlistEntryId } = request;
  const filters = [patientId, practitionerId, waitlistEntryId];
  const page = readPage(request, "holds", filters);
  const wanted = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listLiveHolds(call.transaction, { patientId, practitionerId, waitlistEntryId }, nowMs, wanted);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "holds", filters);
  return { holds: rows.map((hold) => toAppointmentHold(hold, nowMs)), ...next };
}

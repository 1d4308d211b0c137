import type { ReadyCall } from "../../call.js";
import { CupoError } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import { RaceLost } from "../../postgres/sql-errors.js";
import { findFreeOption } from "../../postgres/tables/holds/free-options.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import { isBound } from "../appointments/appointment-preconditions.js";
import { requireFitting } from "../appointments/take-slots.js";
import { type HeldOption, type HoldTerms, type Judge, locksOf, subjectOf, takeOption } from "./take-option.js";

/**
 * Holds the option of a token. Returns the hold and the option. With alternatives, holds a free option of all the
 * tokens: the first one, or a later one if other calls have locked its slot ({@link findFreeOption}). If no option is
 * free, throws the error of the first token's option.
 *
 * Throws:
 * - 422 for an invalid token, and for the token of a hold
 * - 422 if the patient, the appointment or the service of an alternative differs from that of the first token
 * - 409 if the patient is inactive or the appointment cannot be moved
 * - 410 if the option no longer exists, for example because its token expired or its slots changed
 * - 409 for other conflicts: for example, the option is taken or the patient has too many holds
 *
 * With alternatives, if another call takes the chosen option at the same moment, the transaction of this call runs
 * again ({@link RaceLost}).
 */
export async function holdOption(
  token: OpenedToken,
  alternatives: readonly OpenedToken[],
  call: ReadyCall,
  terms: HoldTerms,
): Promise<HeldOption> {
  const single = () => takeOption(requireFitting(token, isSearched, "optionToken"), call, terms, itself);
  if (alternatives.length === 0) return single();
  const options = usableOptions(token, alternatives);
  const [first] = options;
  if (first === undefined) return single();
  const subject = subjectOf(first);
  const [, free] = await Promise.all([
    lockInOrder(call.transaction, locksOf(subject)),
    findFreeOption(call.transaction, call.principal, options, {
      serviceId: first.serviceId,
      isBound: isBound(call.principal),
      by: subject,
      nowMs: terms.nowMs,
    }),
  ]);
  return free === undefined ? single() : takeOption(free, call, terms, lostRace);
}

const itself: Judge = (error) => error;
const lostRace: Judge = (error) => (error instanceof CupoError ? new RaceLost(error) : error);

function isSearched({ holdId }: OptionClaims): boolean {
  return holdId === undefined;
}

/**
 * Returns the options that have not expired, in the order of the tokens. Throws 422 for an invalid token and for the
 * token of a hold. Also throws 422 if the patient, the appointment or the service of a token differs from that of the
 * first token.
 */
function usableOptions(token: OpenedToken, alternatives: readonly OpenedToken[]): readonly OptionClaims[] {
  const first = token.kind === "INVALID" ? undefined : token.option;
  const fits = (option: OptionClaims) =>
    isSearched(option) &&
    option.subject.kind === first?.subject.kind &&
    option.subject.id === first.subject.id &&
    option.serviceId === first.serviceId;
  const options: OptionClaims[] = [];
  for (const [i, opened] of [token, ...alternatives].entries()) {
    const field = i === 0 ? "optionToken" : `alternativeOptionTokens[${i - 1}]`;
    const option = requireFitting(opened, fits, field);
    if (opened.kind === "OPTION") options.push(option);
  }
  return options;
}

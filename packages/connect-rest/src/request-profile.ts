import type { JsonProfile } from "./json/json-profile.js";
import { protoJsonProfile } from "./json/protojson/protojson-profile.js";
import { strictProfile } from "./json/strict/strict-profile.js";

/** Options that decide how lenient a handler is. */
export interface ProfileOptions {
  /**
   * - "strict": each value has one spelling, each field one source, and nothing is ignored.
   * - "protojson": what the ProtoJSON specification allows, and what clients of Google's APIs send: a field of the path
   *   may be in the body too, where it is ignored, so that a resource can be read, modified and written.
   *
   * Defaults to "strict".
   */
  readonly profile?: "strict" | "protojson";
  /**
   * Whether "protojson" ignores members and query parameters that are no fields, and unknown names of enum values.
   * Defaults to false. "strict" cannot ignore them.
   */
  readonly ignoreUnknownFields?: boolean;
  /**
   * Query parameters that are ignored unless they are fields of the request. Defaults to none in "strict" and to {@link
   * systemParameters} in "protojson".
   */
  readonly ignoredParameters?: readonly string[];
}

/** The rules by which a handler reads requests. */
export interface RequestProfile {
  readonly json: JsonProfile;
  /** Whether a field of the path may be in the query or the body too. It is ignored there. */
  readonly pathWins: boolean;
  /** Whether callers may send the update mask that the transcoder otherwise fills. */
  readonly takesUpdateMask: boolean;
  readonly ignoredParameters: ReadonlySet<string>;
}

/** The query parameters that every API of Google accepts (cloud.google.com/apis/docs/system-parameters). */
export const systemParameters: readonly string[] = [
  "$.xgafv",
  "$alt",
  "$apiVersion",
  "$callback",
  "$fields",
  "$key",
  "$prettyPrint",
  "$quotaUser",
  "$userProject",
  "access_token",
  "alt",
  "callback",
  "fields",
  "key",
  "oauth_token",
  "prettyPrint",
  "quotaUser",
  "uploadType",
  "upload_protocol",
  "userIp",
];

/** Returns the profile that the options choose. Throws if "strict" is to ignore unknown fields. */
export function requestProfile(options: ProfileOptions = {}): RequestProfile {
  const { profile = "strict", ignoreUnknownFields = false } = options;
  if (profile === "protojson") {
    return {
      json: protoJsonProfile({ ignoreUnknownFields }),
      pathWins: true,
      takesUpdateMask: true,
      ignoredParameters: new Set(options.ignoredParameters ?? systemParameters),
    };
  }
  if (ignoreUnknownFields) throw new Error('the profile "strict" cannot ignore unknown fields; use "protojson"');
  return {
    json: strictProfile,
    pathWins: false,
    takesUpdateMask: false,
    ignoredParameters: new Set(options.ignoredParameters ?? []),
  };
}

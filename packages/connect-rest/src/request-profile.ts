import type { JsonProfile } from "./json/json-profile.js";
import { protoJsonProfile } from "./json/protojson/protojson-profile.js";
import { strictProfile } from "./json/strict/strict-profile.js";

/** Options that decide which forms of values and which unknown names a handler accepts. */
export interface ProfileOptions {
  /**
   * - "strict": ProtoJSON with JSON names, names of enum values, padded base64 and no `null`. Each field is read from
   *   one place (path, query or body), and nothing is ignored except `ignoredParameters`.
   * - "protojson": everything that the ProtoJSON specification allows. A field of the path may also be in the query or
   *   the body, where it is ignored. So clients can read a resource, change it and send it back, as with Google's APIs.
   *
   * Defaults to "strict".
   */
  readonly profile?: "strict" | "protojson";
  /**
   * Whether "protojson" ignores members and query parameters whose name is not a field, and unknown names of enum
   * values. Defaults to false. With "strict", true is an error.
   */
  readonly ignoreUnknownFields?: boolean;
  /**
   * Query parameters that are ignored, unless the name is a field that the query may set. Defaults to none in "strict"
   * and to {@link systemParameters} in "protojson".
   */
  readonly ignoredParameters?: readonly string[];
}

/** The rules by which a handler reads requests. */
export interface RequestProfile {
  readonly json: JsonProfile;
  /** Whether a field of the path may also be in the query or the body, where it is ignored. */
  readonly pathWins: boolean;
  /** Whether callers may send the update mask. If they do not send it, the handler fills it. */
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

/** Returns the profile that the options select. Throws if `ignoreUnknownFields` is true with "strict". */
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

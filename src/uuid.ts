const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a text is a UUID (RFC 9562 section 4) in any case. Of any version and variant: clients and issuers number in
 * their own ways, and the check of the package `uuid` knows those of the RFC alone.
 */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Whether a text is a UUID in the form that the service keeps and gives: lower case. */
export function isLowerCaseUuid(text: string): boolean {
  return isUuid(text) && text === text.toLowerCase();
}

type NameIn<E> = Exclude<Extract<keyof E, string>, `${string}UNSPECIFIED`>;

/**
 * Returns the name of an enum value, as the database stores it. Throws if the value is unknown or UNSPECIFIED. Requests
 * with such values fail validation, so this function throws only if the service has a bug.
 */
export function nameIn<E extends object>(enumeration: E, value: number): NameIn<E> {
  const name: unknown = Reflect.get(enumeration, value);
  if (typeof name !== "string" || name.endsWith("UNSPECIFIED"))
    throw new Error("the enum value was not validated: it has no name");
  return name as NameIn<E>;
}

/** Returns the enum value of a stored name. Throws if the enum has no such name. */
export function valueNamed<E extends number>(enumeration: Readonly<Record<string, E | string>>, name: string): E {
  const value = enumeration[name];
  if (typeof value !== "number") throw new Error("the stored name is not a value of the enum");
  return value;
}

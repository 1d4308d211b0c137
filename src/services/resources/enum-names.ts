type NameIn<E> = Exclude<Extract<keyof E, string>, `${string}UNSPECIFIED`>;

/** The name of an enum's value, which is what is kept. Validation has refused values that have none. */
export function nameIn<E extends object>(enumeration: E, value: number): NameIn<E> {
  const name: unknown = Reflect.get(enumeration, value);
  if (typeof name !== "string" || name.endsWith("UNSPECIFIED"))
    throw new Error("the value of an enum was not validated");
  return name as NameIn<E>;
}

/** The value of an enum whose name is kept. */
export function valueNamed<E extends number>(enumeration: Readonly<Record<string, E | string>>, name: string): E {
  const value = enumeration[name];
  if (typeof value !== "number") throw new Error("a value is kept that the contract does not know");
  return value;
}

/** A request that changes fields; null and absent both mean "unchanged", unless a use case says otherwise. */
export type Changes<T> = { [Field in keyof T]?: T[Field] | null | undefined };

/** The fields of a request that have a value. */
export function givenFields<T extends object>(changes: T): { [Field in keyof T]?: NonNullable<T[Field]> } {
  const given = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as { [Field in keyof T]?: NonNullable<T[Field]> };
}

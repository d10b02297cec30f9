/** The functions that SQL files create, with the names of their arguments and of their results. */
export function sqlFunctions(texts: readonly string[]): Map<string, Set<string>> {
  const functions = new Map<string, Set<string>>();
  for (const text of texts) {
    for (const match of text.matchAll(/CREATE (?:OR REPLACE )?FUNCTION (\w+)\s*\(([\s\S]*?)\$\$/g)) {
      const names = [...match[2]!.matchAll(/(?:^|[(,])\s*(?:OUT\s+|INOUT\s+|VARIADIC\s+)?([a-z_]\w*)\s+[a-z]/g)].map(
        (name) => name[1]!,
      );
      functions.set(match[1]!, new Set([...(functions.get(match[1]!) ?? []), ...names]));
    }
  }
  return functions;
}

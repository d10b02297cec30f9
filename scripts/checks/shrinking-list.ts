/** Known exceptions to a rule, counted by a name. The list may only shrink. */
export type ShrinkingList = Record<string, number>;

/** What exceeds the list, and entries of the list that no longer exist; both are failures. */
export function compareWithList(found: ShrinkingList, listed: ShrinkingList): { added: string[]; gone: string[] } {
  const added = Object.keys(found).filter((name) => found[name]! > (listed[name] ?? 0));
  const gone = Object.keys(listed).filter((name) => (found[name] ?? 0) < listed[name]!);
  return { added: added.sort(), gone: gone.sort() };
}

export function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): ShrinkingList {
  const counts: ShrinkingList = {};
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1;
  return counts;
}

/** Names that a Prisma schema or an SQL file of functions and triggers declares, and where. */
export function sqlNames(text: string): { name: string; offset: number }[] {
  const patterns = [
    /^model (\w+)/gm,
    /^\s+([a-z]\w*)\s+[A-Z]\w*/gm,
    /@map\("(\w+)"\)/g,
    /^\s*CREATE (?:OR REPLACE )?(?:CONSTRAINT )?(?:FUNCTION|PROCEDURE|TRIGGER|VIEW|TABLE) (\w+)/gm,
  ];
  const plain = text.replace(/^\s*(?:\/\/|--).*$/gm, (comment) => ' '.repeat(comment.length));
  return patterns
    .flatMap((pattern) =>
      [...plain.matchAll(pattern)].map((match) => ({ name: match[1]!, offset: match.index + match[0].indexOf(match[1]!) })),
    )
    .sort((one, other) => one.offset - other.offset);
}

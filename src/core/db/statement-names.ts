import { createHash } from 'node:crypto';

/** Bounded, so that generated SQL cannot fill the server's memory with prepared statements. */
const MAX_NAMED_STATEMENTS = 500;

/**
 * Names of prepared statements, one for each text: the server parses and plans each text once a connection. Above the limit the name is
 * empty, which is an unnamed statement. Behind a pooler that shares sessions between clients, names must not be used.
 */
export function statementNamer(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (names.size >= MAX_NAMED_STATEMENTS) return '';
    const name = `s_${createHash('sha1').update(text).digest('hex').slice(0, 24)}`;
    names.set(text, name);
    return name;
  };
}

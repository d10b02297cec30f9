import { blankComments, blankLiterals } from './sql-lexer.ts';

const LOCKS = /\bFOR\s+(?:(?:NO\s+KEY\s+)?UPDATE|(?:KEY\s+)?SHARE)\b/;
const WRITES = /\bUPDATE\s+(?:ONLY\s+)?[\w."¤]+(?:\s+(?:AS\s+)?\w+)?\s+SET\b|\bDELETE\s+FROM\b/;

interface Group {
  start: number;
  /** What is written in it outside further parentheses. */
  text: string;
  /** What is written in front of it, since the statement or the outer parenthesis began. */
  before: string;
}

/**
 * Selects that lock rows and that a join may carry out once for each row of the table that is written: each time they return the next rows,
 * so that more than their LIMIT are claimed. `id = ANY(ARRAY(SELECT … FOR UPDATE))`, `id = (SELECT …)` and a common table expression are
 * carried out once. @returns their offsets in the text
 */
export function repeatedLocks(text: string): number[] {
  const found: number[] = [];
  const open: Group[] = [{ start: 0, text: '', before: '' }];
  const plain = blankLiterals(blankComments(text));
  for (const [at, char] of [...plain].entries()) {
    const current = open.at(-1)!;
    if (char === '(') open.push({ start: at, text: '', before: current.text });
    else if (char === ')' && open.length > 1) {
      open.pop();
      if (isRepeated(current)) found.push(current.start);
      open.at(-1)!.text += '()';
    } else if (char === ';') current.text = '';
    else current.text += char;
  }
  return found;
}

function isRepeated({ text, before }: Group): boolean {
  if (!/^\s*(?:SELECT|WITH)\b/.test(text) || !LOCKS.test(text)) return false;
  return /\bIN\s*$/.test(before) || (/(?:\b(?:FROM|JOIN|USING|LATERAL)|,)\s*$/.test(before) && WRITES.test(before));
}

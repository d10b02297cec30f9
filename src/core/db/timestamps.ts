/** `timestamptz` as the server writes it: `2026-11-22 10:11:12.123456+00`. Lists have several in each row. */
import pg from 'pg';

const TIMESTAMPTZ = 1184;
const parseAny = pg.types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;

const [DASH, SPACE, COLON, POINT, PLUS, ZERO] = [...'- :.+0'].map((char) => char.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
  number,
];
const WITHOUT_FRACTION = '2026-11-22 10:11:12+00'.length;
const LONGEST = '2026-11-22 10:11:12.123456+00'.length;
/** `Date.UTC` reads a smaller number as a year of the twentieth century. */
const FIRST_PLAIN_YEAR = 100;

/**
 * Reads a timestamp of a session whose time zone is UTC and whose year has four digits; the driver's reader, which uses patterns, does the
 * others. Digits beyond milliseconds are cut off, as the driver does.
 */
export function timestampOf(text: string): Date {
  if (!isPlain(text)) return parseAny(text);
  const year = numberAt(text, 0) * 100 + numberAt(text, 2);
  if (year < FIRST_PLAIN_YEAR) return parseAny(text);
  return new Date(
    Date.UTC(
      year,
      numberAt(text, 5) - 1,
      numberAt(text, 8),
      numberAt(text, 11),
      numberAt(text, 14),
      numberAt(text, 17),
      text.length === WITHOUT_FRACTION ? 0 : millisecondsOf(text),
    ),
  );
}

function isPlain(text: string): boolean {
  const end = text.length - 3;
  return (
    text.length >= WITHOUT_FRACTION &&
    text.length <= LONGEST &&
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    text.charCodeAt(10) === SPACE &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON &&
    text.charCodeAt(end) === PLUS &&
    text.charCodeAt(end + 1) === ZERO &&
    text.charCodeAt(end + 2) === ZERO &&
    (end === 19 || (end > 20 && text.charCodeAt(19) === POINT))
  );
}

/** Two digits as a number. */
function numberAt(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

function millisecondsOf(text: string): number {
  const end = text.length - 3;
  let milliseconds = 0;
  for (let at = 20; at < 23; at++) milliseconds = milliseconds * 10 + (at < end ? text.charCodeAt(at) - ZERO : 0);
  return milliseconds;
}

/** Text rules of the blacklist (spec 01 section 4.2, spec 06 section 13). */

export interface BlacklistLine {
  messengerId: number;
  /** Lower case, without `@`. */
  username: string | null;
  reason: string | null;
}

const LINE = /^(\d{1,16})(?=[\s,]|$)(.*)$/;
const USERNAME = /@(\w{1,64})/;
const MAX_REASON = 500;

/** Reads `ID [@username] …[, reason]`, one a line; `#` begins a comment; what is no entry is skipped, of equal ids the last counts. */
export function parseBlacklist(text: string): BlacklistLine[] {
  const entries = new Map<number, BlacklistLine>();
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const [, id, rest = ''] = LINE.exec(raw.split('#', 1)[0]!.trim()) ?? [];
    const messengerId = Number(id ?? 0);
    if (!Number.isSafeInteger(messengerId) || messengerId <= 0) continue;
    const comma = rest.indexOf(',');
    const reason = comma < 0 ? '' : rest.slice(comma + 1).trim();
    const username = USERNAME.exec(comma < 0 ? rest : rest.slice(0, comma))?.[1]?.toLowerCase() ?? null;
    entries.set(messengerId, { messengerId, username, reason: reason === '' ? null : reason.slice(0, MAX_REASON) });
  }
  return [...entries.values()];
}

/** The page that shows a file of a code host becomes the file itself; every other address stays. */
export function rawListUrl(url: string): string {
  const page = /^https:\/\/(?:www\.)?github\.com\/([^/?#]+)\/([^/?#]+)\/blob\/([^?#]+)/i.exec(url.trim());
  return page ? `https://raw.githubusercontent.com/${page[1]}/${page[2]}/${page[3]}` : url.trim();
}

const MINUTE_MS = 60_000;
const MAX_PAUSE_MS = 60 * MINUTE_MS;

/** Pause after so many failures in a row: 1, 2, 4 … 60 minutes. */
export function pauseAfter(failures: number): number {
  return Math.min(MINUTE_MS * 2 ** Math.max(0, failures - 1), MAX_PAUSE_MS);
}

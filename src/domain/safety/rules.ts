/** Text rules of published lists (spec 01 sections 2.6 and 4.2, spec 06 section 13). */
import type { Rows } from '../../core/db/columns.ts';

/** An entry of the list; `username` is lower case, without `@`. */
export type BlacklistLine = Pick<Rows['BlacklistEntry'], 'messengerId' | 'username' | 'reason'>;

const LINE = /^(\d{1,16})(?=[\s,]|$)(.*)$/;
const USERNAME = /@(\w{1,64})/;
const MAX_REASON = 500;

/** Reads `ID [@username] …[, reason]`, one a line; `#` begins a comment; invalid lines are skipped, of equal ids the last one is used. */
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

/** Converts the address of a file's page at the code host to the address of the file; every other address stays. */
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

const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;
const MIN_DOMAINS = 100;
const MAX_DOMAINS = 500_000;
/** The rest may be mistakes in the list. */
const LEAST_DOMAIN_SHARE = 0.95;
/** Ordinary providers: a list that names one of them would refuse most users. */
const ORDINARY_PROVIDERS = [
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'hotmail.com', 'live.com', 'yahoo.com', 'icloud.com', 'me.com', 'aol.com'],
  ...['mail.ru', 'bk.ru', 'list.ru', 'inbox.ru', 'yandex.ru', 'ya.ru', 'yandex.com', 'rambler.ru', 'proton.me', 'protonmail.com'],
  ...['gmx.de', 'gmx.net', 'web.de', 'ukr.net', 'qq.com', '163.com'],
];

/**
 * Reads a list of mail domains, one a line; `#` begins a comment.
 * @returns lower case, without repetitions
 * @throws Error when the text is not such a list: too short or too long, lines that are not domains, or an ordinary mail provider in it
 */
export function parseDomainList(text: string): string[] {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.split('#', 1)[0]!.trim().toLowerCase())
    .filter((line) => line !== '');
  const domains = [...new Set(lines.filter((line) => DOMAIN.test(line)))];
  if (domains.length < MIN_DOMAINS) throw new Error(`the list has ${domains.length} domains; it is not a complete list`);
  if (domains.length > MAX_DOMAINS) throw new Error(`the list has more than ${MAX_DOMAINS} domains`);
  const share = lines.filter((line) => DOMAIN.test(line)).length / lines.length;
  if (share < LEAST_DOMAIN_SHARE) throw new Error('too many lines of the list are not domains');
  const listed = new Set(domains);
  const ordinary = ORDINARY_PROVIDERS.find((domain) => listed.has(domain));
  if (ordinary) throw new Error(`the list contains ${ordinary}`);
  return domains;
}

/** Words that names and comments must not have, and what to write instead (CONTRIBUTING.md, docs/glossary.md). */
import { wordsOf } from './checks/name-words.ts';

const REFUSED: readonly { words: string; instead: string; onlyTypes?: boolean }[] = [
  { words: 'tell tells telling told hear hears hearing heard', instead: 'notify, send, receive' },
  { words: 'note notes noted noting', instead: 'record, message' },
  { words: 'judge judges judged judging', instead: 'classify, assert' },
  { words: 'wish wishes wished wishing', instead: 'desired state, request' },
  { words: 'believe believes believed believing', instead: 'assume' },
  { words: 'hold holds holding held', instead: 'lock for share, keep' },
  { words: 'lend lends lending lent', instead: 'temporary' },
  { words: 'own', instead: 'my…, the noun' },
  { words: 'door doors', instead: 'endpoint, route' },
  { words: 'room rooms', instead: 'module, capacity, channel' },
  { words: 'house houses', instead: 'service' },
  { words: 'knock knocks knocked knocking', instead: 'attempt' },
  { words: 'standing standings', instead: 'access status, state' },
  { words: 'lack lacks lacked lacking shortage shortages', instead: 'insufficient funds, missing' },
  { words: 'work_off works_off worked_off', instead: 'process, drain, forEachPage' },
  { words: 'figure figures tally tallies tallied tallying', instead: 'stats, counters' },
  { words: 'visitor visitors', instead: 'registrant' },
  { words: 'party parties', instead: 'referrer, referee, user' },
  { words: 'subject subjects', instead: 'user, row' },
  { words: 'counter_account', instead: 'contra account' },
  { words: 'moment moments', instead: 'timestamp, time' },
  { words: 'wall', instead: 'local time, system clock' },
  { words: 'stage stages', instead: 'fixture (of tests), step' },
  { words: 'anew', instead: 'again' },
  { words: 'shop shops', instead: 'service, sales' },
  { words: 'kept left ended', instead: 'retained, remaining, closed or expired', onlyTypes: true },
];

/** Names that contracts and libraries fix. `where` is a pattern on the path; absent = everywhere. */
const ALLOWED: readonly { name: RegExp; where?: RegExp; why: string }[] = [
  { name: /^(?:default_?|email_?)?subject(?:_?line)?$/i, why: 'of an e-mail; of a token (OAuth); a field of the contract' },
  { name: /payment_?subject$/i, why: 'a field of receipts at payment providers, and the settings keys named after it' },
  { name: /^admin_?notes$/i, why: 'a field of the contract' },
  { name: /^REFERRAL_EARNINGS_HOLD_DAYS$/, why: 'the key of a setting (spec 10 M4)' },
  { name: /^own_deposits$/, why: 'a field of the risk analysis (spec 03 section 6)' },
  { name: /^(?:[A-Z0-9_]+_)?shop_?id$/i, why: 'the account at a payment provider, as providers call it' },
  {
    name: /shop/i,
    where:
      /^(?:packages\/sandbox\/src\/payments|src\/integrations\/payments|tests\/(?:(?:domain|unit)\/payments|support\/providers))\//,
    why: 'the same',
  },
  {
    name: /moments?$/,
    where: /^prisma\/sql\//,
    why: 'parameters: PostgreSQL renames one of a function only by dropping the function',
  },
  {
    name: /^moment$/,
    where: /^src\/(?:domain\/panel-events|integrations\/vpnpanel)\//,
    why: 'a field of stored events of the panel and of the texts made from them',
  },
  {
    name: /^note$/,
    where: /^(?:packages\/sandbox\/src\/panel|src\/integrations\/vpnpanel)\//,
    why: "a field of the panel's nodes",
  },
];

const SINGLE = new Map(REFUSED.flatMap((entry) => entry.words.split(' ').map((word) => [word, entry] as const)));

/** What to write in place of a refused word of a name; null where the name is fine. */
export function refusal(name: string, path: string, isType = false): string | null {
  if (ALLOWED.some((entry) => entry.name.test(name) && (entry.where?.test(path) ?? true))) return null;
  const words = wordsOf(name);
  for (const [index, word] of words.entries()) {
    const found = SINGLE.get(word) ?? SINGLE.get(`${word}_${words[index + 1]}`);
    if (found && (isType || !found.onlyTypes)) return found.instead;
  }
  return null;
}

/** Of comments. Words that are right in some sentences, such as `stage` or `shop`, are refused in names only. */
const REFUSED_PHRASES: readonly { pattern: RegExp; instead: string }[] = [
  { pattern: /\bmoments?\b/i, instead: 'timestamp, time; now, briefly' },
  { pattern: /\bwall[\s*]+(?:clock|time)s?\b/i, instead: 'local time, system clock' },
  { pattern: /\btold\b/i, instead: 'notified, distinguished' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bas[\s*]+(?:it[\s*]+was|they[\s*]+were)\b/i, instead: 'unchanged, as written' },
  { pattern: /\bgives[\s*]+(?:no|the)[\s*]+(?:answer|list)\b/i, instead: 'does not answer, returns' },
  // A doc comment that begins so is that of a function; `Takes effect` and the like are not.
  { pattern: /^\/\*\*[\s*]*Takes (?!effect\b)/, instead: 'Accepts, acquires, claims, removes' },
  { pattern: /^\/\*\*[\s*]*Gives\b/, instead: 'Returns, assigns, grants' },
];

/** What to write in place of the refused phrases of a comment. */
export function refusedPhrases(comment: string): { phrase: string; offset: number; instead: string }[] {
  return REFUSED_PHRASES.flatMap(({ pattern, instead }) => {
    const found = pattern.exec(comment);
    return found ? [{ phrase: found[0].replace(/[\s*/]+/g, ' ').trim(), offset: found.index, instead }] : [];
  });
}

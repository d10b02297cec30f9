/** Words that names must not have, and what to write instead (CONTRIBUTING.md, docs/glossary.md). */
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
  { words: 'kept left ended', instead: 'retained, remaining, closed or expired', onlyTypes: true },
];

/** Names that contracts and libraries fix. `where` is a pattern on the path; absent = everywhere. */
const ALLOWED: readonly { name: RegExp; where?: RegExp; why: string }[] = [
  { name: /^(?:default_?|email_?)?subject(?:_?line)?$/i, why: 'of an e-mail; of a token (OAuth); a field of the contract' },
  { name: /payment_?subject$/i, why: 'a field of receipts at payment providers, and the settings keys named after it' },
  { name: /^admin_?notes$/i, why: 'a field of the contract' },
  { name: /^REFERRAL_EARNINGS_HOLD_DAYS$/, why: 'the key of a setting (spec 10 M4)' },
  { name: /^own_deposits$/, why: 'a field of the risk analysis (spec 03 section 6)' },
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

/**
 * A process of its own that moves money through the HTTP interface (`startHammer`). Its book is on the disk before and after each call, so that it can
 * be killed, too: started again with the same order, it first sends what was not acknowledged, with the same keys.
 */
import { readFileSync } from 'node:fs';
import { type LoadOptions, type LoadTarget, startMoneyLoad } from './money-load.ts';
import { createRandom } from './seeded-random.ts';
import { WriteBook } from './write-book.ts';
import { WriteJournal } from './write-journal.ts';

export interface HammerOrder {
  journal: string;
  seed: number;
  target: Omit<LoadTarget, 'tokenOf'> & { tokens: Record<string, string> };
  load: LoadOptions;
  /** How long it goes on after SIGTERM: until everything is acknowledged, and before that until each payment was reported. */
  stop: { limitMs: number; callbacksMs: number };
}

const { journal: path, seed, target, load: options, stop } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as HammerOrder;
const journal = await WriteJournal.open(path);
const book = new WriteBook(journal);
const tokenOf = (userId: number) => target.tokens[userId]!;
// After a kill it makes other choices: those of before are made.
const random = createRandom(seed + book.writes.length);
const load = startMoneyLoad({ ...target, tokenOf }, book, random, options);
process.once('SIGTERM', async () => {
  await load.stop(stop.limitMs, stop.callbacksMs);
  await journal.close();
  process.exit(0);
});

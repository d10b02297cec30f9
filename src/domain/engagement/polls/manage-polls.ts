import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { pollNotFound } from './errors.ts';
import { findById, findStatistics, insert, list, listResponses, remove } from './repo.ts';
import type { NewPoll, Poll, PollResponseView, PollStatistics, PollSummary } from './types.ts';

interface Page {
  limit: number;
  offset: number;
}

/** Creates a poll with its questions in one statement; a disabled reward is 0 kopeks (spec 04 section 12.2). */
export async function createPoll(app: App, input: NewPoll): Promise<Poll> {
  const rewardAmountKopeks = input.rewardEnabled ? input.rewardAmountKopeks : 0;
  const id = await insert(app.db, { ...input, rewardAmountKopeks }, app.clock.now());
  const poll = await readPoll(app, id);
  app.audit?.record({ resourceId: id, before: null, after: poll });
  return poll;
}

/** All polls, newest first. */
export function listPolls(app: App, page: Page): Promise<{ items: PollSummary[]; total: number }> {
  return list(app.db, page);
}

/** @throws AppError 404 */
export async function readPoll(app: App, id: number): Promise<Poll> {
  return (await findById(app.db, id)) ?? refuseUnknown();
}

/** Deletes a poll with its answers; rewards that were paid stay paid. @throws AppError 404 */
export async function deletePoll(app: App, id: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await readPoll(t, id);
    if (!(await remove(t.db, id))) throw pollNotFound();
    t.audit?.record({ before, after: null });
  });
}

/** Counts of each option, and the sum of rewards. @throws AppError 404 */
export async function readPollStatistics(app: App, id: number): Promise<PollStatistics> {
  return (await findStatistics(app.db, id)) ?? refuseUnknown();
}

/** Responses with their answers, oldest first. @throws AppError 404 */
export async function listPollResponses(app: App, id: number, page: Page): Promise<{ items: PollResponseView[]; total: number }> {
  return (await listResponses(app.db, id, page)) ?? refuseUnknown();
}

function refuseUnknown(): never {
  throw pollNotFound();
}

import { isDatabaseUnavailable, isRetryable, isUnstorableText } from '../../core/db/db-errors.ts';
import { isAppError, refusal } from '../../core/errors.ts';

const statisticsFailed = refusal('statistics_failed', 500, 'Failed to load statistics');

/**
 * Runs an operation whose unexpected failure has a text of its own (spec 06 sections 4.3 and 4.5). Refusals keep theirs, and a database that
 * does not answer stays the 503 of every operation.
 * @throws AppError 500 with the text
 */
export async function orFailWith<T>(failure: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isAppError(error) || isDatabaseUnavailable(error) || isRetryable(error) || isUnstorableText(error)) throw error;
    throw statisticsFailed({ detail: failure, cause: error });
  }
}

import { refusal } from '../../../core/errors.ts';
import { isPanelError } from '../../provisioning/ports.ts';

/** Runs calls to the panel; their failures are a documented 500 (spec 01 section 11.3). @throws AppError 500 'Sync error: …' */
export async function callingPanel<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isPanelError(error)) throw syncError(error.message, error);
    throw error;
  }
}

export const syncError = refusal('sync_error', 500, 'Sync error: <n>', (text: string, cause?: unknown) => ({
  detail: `Sync error: ${text}`,
  cause,
}));

import type { App } from '../../../core/app.ts';
import type { RunHold } from '../long-runs/drive-run.ts';
import { tryAgain } from '../long-runs/try-again.ts';
import { isPanelError } from '../ports.ts';
import {
  type AbsentAccount,
  type AbsentTreatment,
  blankSubscriptions,
  countAbsent,
  disableSubscriptions,
  listAbsent,
  lockStillAbsent,
  unlinkServers,
} from './absent-repo.ts';
import { advance, type PhaseResult } from './progress.ts';
import { isTooManyAbsent } from './rules.ts';
import type { SyncRefusal, SyncRun } from './types.ts';

const BATCH = 50;
const PARALLEL = 5;

function treatmentOf(run: SyncRun): AbsentTreatment {
  if (run.kind === 'statuses') return 'disable';
  return run.kind === 'cleanup' ? 'blank_live' : 'blank';
}

/**
 * Accounts whose panel user is gone (spec 06 section 10). Three things must hold before anything is taken from a customer (section 17, hazard 4):
 * the list is whole and not empty, the absent ones are at most a tenth of all, and the panel, asked for each of them by uuid,
 * messenger id and e-mail, says that there is no such user. Money is never touched.
 */
export async function treatAbsent(app: App, hold: RunHold, run: SyncRun): Promise<PhaseResult> {
  const readAt = new Date(run.cursor.readAt!);
  const query = { runId: run.id, readAt, now: app.clock.now(), treatment: treatmentOf(run) };
  if (!run.cursor.isShareChecked) {
    const { absent, known } = await countAbsent(app.db, query);
    const refusal = refusalOf(run, absent, known);
    // Counted for the answer: a clean-up looks at every account that the panel could have.
    const counted = run.kind === 'cleanup' ? { checked: known } : {};
    if (refusal !== null) {
      app.log.warn({ runId: run.id, kind: run.kind, absent, known, refusal }, 'panel sync: nobody was disabled');
      await hold.write(app, (t) => advance(t, run, {}, { ...counted, errors: 1 }, { refusal }));
      return 'next';
    }
    await hold.write(app, (t) => advance(t, run, { isShareChecked: true, after: '0' }, counted));
    return absent === 0 ? 'next' : 'more';
  }
  const accounts = await listAbsent(app.db, { ...query, afterId: Number(run.cursor.after), limit: BATCH });
  const last = accounts.at(-1);
  if (!last) return 'next';
  await hold.renew(app);
  const { gone, refused } = await keepDefinitelyAbsent(app, accounts);
  await hold.write(app, async (t) => {
    const ids = await lockStillAbsent(t.db, { ...query, accounts: gone });
    if (ids.length > 0) {
      if (query.treatment === 'disable') {
        await disableSubscriptions(t.db, ids, t.clock.now());
      } else {
        await unlinkServers(t.db, ids);
        await blankSubscriptions(t.db, ids, t.clock.now());
      }
    }
    await advance(t, run, { after: String(last.userId) }, { deleted: ids.length, errors: refused });
  });
  return 'more';
}

function refusalOf(run: SyncRun, absent: number, known: number): SyncRefusal | null {
  if (known === 0 || absent === 0) return null;
  if (!run.cursor.isComplete) return 'incomplete_list';
  return isTooManyAbsent(absent, known) ? 'too_many_absent' : null;
}

/**
 * Accounts of which the panel says that there is no such user, and the number of those that it refuses to be asked about (an address
 * that it takes for none, say): of these nothing is known, and they must not keep all others from being looked at, run after run.
 * @throws PanelError when the panel gives no answer about one of them: then nothing is known about any
 */
async function keepDefinitelyAbsent(
  app: App,
  accounts: readonly AbsentAccount[],
): Promise<{ gone: AbsentAccount[]; refused: number }> {
  const { panel } = app.ports;
  const gone: AbsentAccount[] = [];
  let refused = 0;
  const queue = accounts.values();
  const isFound = async ({ panelUuid, messengerId, verifiedEmail }: AbsentAccount): Promise<boolean> => {
    const found =
      (panelUuid === null ? null : await tryAgain(() => panel.findByUuid(panelUuid))) ??
      (await tryAgain(() => panel.findByMessengerId(messengerId))) ??
      (verifiedEmail === null ? null : await tryAgain(() => panel.findByEmail(verifiedEmail)));
    return found !== null;
  };
  const worker = async () => {
    for (const account of queue) {
      try {
        if (!(await isFound(account))) gone.push(account);
      } catch (error) {
        if (!isPanelError(error) || error.kind !== 'rejected') throw error;
        refused += 1;
        app.log.warn(
          { err: error, userId: account.userId },
          'panel sync: the panel refused a look-up; the account is left alone',
        );
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return { gone, refused };
}

/** npm run drill: faults on purpose, under load, with proofs from the database afterwards (docs/drills.md). Exit code 1 = violated. */

import { readArguments } from '../read-arguments.ts';
import { undoNow } from './cleanup.ts';
import { runEventDrill } from './event-drill.ts';
import { runFailoverDrill } from './failover-drill.ts';
import { runKillPointsDrill } from './kill-points/kill-points-drill.ts';
import { runMoneyDrill } from './money/money-drill.ts';
import { type DrillOptions, HELP, readOptions, type SingleDrill } from './options.ts';
import { DrillReport } from './report.ts';
import { runRestartDrill } from './restart-drill.ts';
import { runScaleDrill } from './scale-drill.ts';
import { runSilenceDrill } from './silence-drill.ts';
import { runSoakDrill } from './soak-drill.ts';

let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    console.error('  interrupted: cleaning up');
    // Connections that nobody waits for end with their databases, too.
    process.on('uncaughtException', () => undefined);
    void undoNow().then(() => process.exit(130));
  });
}

const options = readArguments<DrillOptions>(readOptions, HELP);
const report = new DrillReport();
const progress = (text: string) => console.error(`  ${text}`);
console.error(`${options.drill}, seed ${options.seed}:`);
if (options.drill === 'all') {
  for (const each of options.drills) await runOne(each);
  console.log(`\n${report.render()}\n\n${report.renderTable()}`);
} else {
  const isDone = await runDrill(options).catch(endWhenInterrupted);
  if (isDone) console.log(`\n${report.render()}`);
}
process.exit(report.isMet ? 0 : 1);

/** What it works on is taken away meanwhile: the process ends when everything is undone. @throws the error, of a drill that was not interrupted */
function endWhenInterrupted(error: unknown): Promise<never> {
  if (isInterrupted) return new Promise<never>(() => undefined);
  throw error;
}

/** One of all: the next ones are carried out, too, when it ends with an error. */
async function runOne(drill: SingleDrill): Promise<void> {
  report.beginDrill(drill.drill);
  progress(drill.drill);
  await runDrill(drill)
    .catch(endWhenInterrupted)
    .then(
      (isDone) =>
        report.add(
          'was carried out',
          isDone ? 'yes' : 'something that it needs is missing',
          isDone ? [] : ['left out, see above'],
        ),
      (error: Error) => report.add('was carried out', 'ended with an error', [error.stack ?? error.message]),
    );
}

/** @returns false when something that the drill needs is missing and it was left out */
async function runDrill(drill: SingleDrill): Promise<boolean> {
  switch (drill.drill) {
    case 'failover':
      await runFailoverDrill(drill, report, progress);
      return true;
    case 'scale':
      return runScaleDrill(drill, report, progress);
    case 'events':
      await runEventDrill(drill, report, progress);
      return true;
    case 'restart':
      return runRestartDrill(drill, report, progress);
    case 'silence':
      return runSilenceDrill(drill, report, progress);
    case 'money':
      return runMoneyDrill(drill, report, progress);
    case 'kill-points':
      return runKillPointsDrill(drill, report, progress);
    case 'soak':
      return runSoakDrill(drill, report, progress);
  }
}

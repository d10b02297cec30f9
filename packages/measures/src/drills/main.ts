/** npm run drill: faults on purpose, under load, with proofs from the database afterwards (docs/drills.md). Exit code 1 = violated. */

import { readArguments } from '../read-arguments.ts';
import { undoNow } from './cleanup.ts';
import { runEventDrill } from './event-drill.ts';
import { runFailoverDrill } from './failover-drill.ts';
import { runMoneyDrill } from './money/money-drill.ts';
import { type DrillOptions, HELP, readOptions } from './options.ts';
import { DrillReport } from './report.ts';
import { runRestartDrill } from './restart-drill.ts';
import { runScaleDrill } from './scale-drill.ts';
import { runSilenceDrill } from './silence-drill.ts';

let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    console.error('  interrupted: cleaning up');
    void undoNow().then(() => process.exit(130));
  });
}

const options = readArguments<DrillOptions>(readOptions, HELP);
const report = new DrillReport();
const progress = (text: string) => console.error(`  ${text}`);
console.error(`${options.drill}, seed ${options.seed}:`);
const isDone = await runDrill(options).catch((error: unknown) => {
  // What it works on is taken away meanwhile: the process ends when everything is undone.
  if (isInterrupted) return new Promise<never>(() => undefined);
  throw error;
});
if (isDone) console.log(`\n${report.render()}`);
process.exit(report.isMet ? 0 : 1);

/** @returns false when something that the drill needs is missing and it was left out */
async function runDrill(drill: DrillOptions): Promise<boolean> {
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
  }
}

/** npm run drill: faults on purpose, under load, with proofs from the database afterwards (docs/drills.md). Exit code 1 = violated. */
import { undoNow } from './cleanup.ts';
import { runEventDrill } from './event-drill.ts';
import { runFailoverDrill } from './failover-drill.ts';
import { type DrillOptions, HELP, readOptions } from './options.ts';
import { DrillReport } from './report.ts';
import { runRestartDrill } from './restart-drill.ts';

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.error('  interrupted: cleaning up');
    void undoNow().then(() => process.exit(130));
  });
}

const options = readArguments();
const report = new DrillReport();
const progress = (text: string) => console.error(`  ${text}`);
console.error(`${options.drill}, seed ${options.seed}:`);
const isDone = await runDrill(options);
if (isDone) console.log(`\n${report.render()}`);
process.exit(report.isMet ? 0 : 1);

/** @returns false when something that the drill needs is missing and it was left out */
async function runDrill(drill: DrillOptions): Promise<boolean> {
  switch (drill.drill) {
    case 'failover':
      await runFailoverDrill(drill, report, progress);
      return true;
    case 'events':
      await runEventDrill(drill, report, progress);
      return true;
    case 'restart':
      return runRestartDrill(drill, report, progress);
  }
}

function readArguments(): DrillOptions {
  try {
    const read = readOptions(process.argv.slice(2));
    if (read !== 'help') return read;
    console.log(HELP);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
  process.exit(0);
}

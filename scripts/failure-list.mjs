// A reporter of the test runner: adds what failed to the file FAILURE_LIST, a line each. `npm test` prints them at the end of all rounds, where
// thousands of lines about tests that passed do not hide them.
import { appendFileSync } from 'node:fs';

export default class FailureList {
  /** Also what failed outside a test: a file that could not be loaded, a hook, an unhandled rejection. */
  onTestRunEnd(testModules, unhandledErrors) {
    const lines = testModules.flatMap((testModule) => {
      const named = (one) =>
        `[${testModule.project.name}] ${[testModule.relativeModuleId, one.fullName].filter(Boolean).join(' > ')}`;
      const suites = [testModule, ...testModule.children.allSuites()];
      return [
        ...suites.flatMap((suite) => suite.errors().map((error) => `${named(suite)}: ${shortened(error)}`)),
        ...[...testModule.children.allTests('failed')].map((test) => `${named(test)}: ${shortened(test.result().errors?.[0])}`),
      ];
    });
    const others = unhandledErrors.map((error) => `outside the tests: ${shortened(error)}`);
    for (const line of [...lines, ...others]) appendFileSync(process.env.FAILURE_LIST, `${line}\n`);
  }
}

/**
 * The beginning of the message in one line: that of a property names the seed and the counterexample in its second and third line. Of a worker
 * that ended, only the cause says why.
 */
function shortened(error) {
  const lines = String(error?.message ?? error).split('\n', 3);
  const cause = error?.cause ? ` | cause: ${shortened(error.cause)}` : '';
  return lines.filter(Boolean).join(' | ').slice(0, 600) + cause;
}

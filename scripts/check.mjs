// npm run check: everything that is checked without running a test, the quick ones first. Goes on after a failure, and names what failed at its end.
import { spawnSync } from 'node:child_process';
import { root } from './prepare.mjs';

const CHECKS = [
  ...['structure', 'words', 'tests', 'spec', 'catches', 'migrations', 'events', 'configuration', 'schema', 'sql', 'licences'],
  ...['types', 'style'],
];

const failed = CHECKS.filter((name) => {
  const { status } = spawnSync('npm', ['run', '--silent', `check:${name}`], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return status !== 0;
});
for (const name of failed) console.log(`Failed: npm run check:${name}`);
process.exit(failed.length > 0 ? 1 : 0);

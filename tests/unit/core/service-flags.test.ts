/** The options of the runtime, which the image and the documented unit of systemd repeat. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SERVICE_FLAGS } from '../../../scripts/service-flags.mjs';

const read = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', '..', name), 'utf8');

test('the image and the unit in docs/operations.md start the server with the options of npm start', () => {
  const command = JSON.parse(/^CMD (\[.*\])$/m.exec(read('Dockerfile'))![1]!) as string[];
  expect(command).toEqual(['node', ...SERVICE_FLAGS, 'dist/server.js']);
  const [, unit] = /^ExecStart=\S+\/node (.*) dist\/server\.js$/m.exec(read('docs/operations.md'))!;
  expect(unit).toBe(SERVICE_FLAGS.join(' '));
});

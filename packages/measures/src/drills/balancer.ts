/** HAProxy in front of instances, as an operator sets it up: it asks `/readyz` and sends requests to whoever is ready. */
import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { endProcess, trackChild } from '../bench/child-process.ts';
import { freePort } from '../free-port.ts';
import { isReady } from './instance.ts';

/** Where packages install it, besides `PATH`. */
const PROGRAMS = ['haproxy', '/usr/sbin/haproxy', '/usr/local/sbin/haproxy'];
const START_LIMIT_MS = 20_000;

export interface Balancer {
  url: string;
  stop(): Promise<void>;
}

/** @returns null when HAProxy is not installed */
export function findBalancer(): string | null {
  return PROGRAMS.find((program) => spawnSync(program, ['-v']).status === 0) ?? null;
}

/** @param folder for its configuration @throws Error when it serves nothing within the limit */
export async function startBalancer(program: string, ports: readonly number[], folder: string): Promise<Balancer> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration(port, ports));
  const child = trackChild(spawn(program, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] }));
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() - startedAt > START_LIMIT_MS)
      throw new Error(`HAProxy serves nothing, see ${file}`);
    await wait(100);
  }
  return { url, stop: () => endProcess(child, 'SIGTERM') };
}

/** Requests that met a refused connection go to another instance; nothing that an instance may have seen is sent twice. */
function configuration(port: number, instances: readonly number[]): string {
  const servers = instances.map((instance, index) => `  server instance${index + 1} 127.0.0.1:${instance} check`);
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
  timeout http-keep-alive 60s
  timeout check 2s
  option redispatch 1
  retries 3
  retry-on conn-failure
listen service
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server inter 250ms fall 2 rise 1
${servers.join('\n')}
`;
}

/** Outside systems: a panel and a webhook receiver on loopback that can be made to stall. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../../src/core/clock.ts';
import { memoryStore } from '../../../sandbox/src/host-ports.ts';
import { startSandboxPanel } from '../../../sandbox/src/panel/sandbox-panel.ts';
import { answerQuestions } from './child-process.ts';

/** Duration of each answer of a stalled system; other requests should not become slower. */
const STALL_MS = 15_000;

export type OutsideOrder = { start: { panelKey: string } } | { stall: boolean };

export interface OutsideAnswer {
  panelUrl: string;
  receiverUrl: string;
  /** Requests since the last call, by system. */
  seen: { panel: number; receiver: number };
}

let isStalled = false;
let panelUrl = '';
let receiverUrl = '';
let seen = { panel: 0, receiver: 0 };

async function obey(order: OutsideOrder): Promise<OutsideAnswer> {
  if ('stall' in order) isStalled = order.stall;
  else {
    const panel = await startSandboxPanel({ state: memoryStore(), clock: systemClock, apiKey: order.start.panelKey });
    panelUrl = await listen((request, response) => {
      seen.panel += 1;
      afterStall(() => pass(request, response, panel.url));
    });
    receiverUrl = await listen((request, response) => {
      seen.receiver += 1;
      request.resume();
      afterStall(() => response.end('ok'));
    });
  }
  const answer = { panelUrl, receiverUrl, seen };
  seen = { panel: 0, receiver: 0 };
  return answer;
}

function afterStall(go: () => void): void {
  if (isStalled) setTimeout(go, STALL_MS);
  else go();
}

function pass(request: IncomingMessage, response: ServerResponse, target: string): void {
  const onward = forward(new URL(request.url!, target), { method: request.method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

answerQuestions<OutsideOrder>(obey);

/** Sends load, in a process of its own: closed loop over a number of connections, or a steady rate. */
import { createHmac, randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { answerQuestions } from './child-process.ts';
import { type Buckets, LatencyCounter } from './statistics.ts';

export interface LoadOrder {
  url: string;
  connections: number;
  seconds: number;
  /** Requests a second over all connections; absent = as fast as answers come. */
  rate?: number;
  requests: RequestPlan;
}

export interface PlannedRequest {
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface RequestPlan {
  method: 'GET' | 'POST';
  /** Sent in turn. */
  items: PlannedRequest[];
  /** Each request gets a new `Idempotency-Key`. */
  withKey?: boolean;
  /** `@id@` in the body becomes a new id, and the body is signed with this secret in this header. */
  signed?: { header: string; secret: string };
}

export interface LoadResult {
  seconds: number;
  requests: number;
  /** Answers other than 2xx, broken connections and time-outs. */
  failures: number;
  /** Status codes seen other than 2xx. */
  statuses: Record<string, number>;
  latencies: Buckets;
}

function send(order: LoadOrder): Promise<LoadResult> {
  const { requests: plan } = order;
  const counter = new LatencyCounter();
  const statuses: Record<string, number> = {};
  let next = 0;
  let good = 0;
  const fixed = plan.items.map((item) => ({ method: plan.method, ...item }));
  const isFixed = !plan.withKey && !plan.signed;
  const made = (): autocannon.Request => {
    const item = fixed[next++ % fixed.length]!;
    const headers: Record<string, string> = { ...item.headers };
    let { body } = item;
    if (plan.withKey) headers['idempotency-key'] = randomUUID();
    if (plan.signed && body) {
      body = body.replaceAll('@id@', randomUUID());
      headers[plan.signed.header] = createHmac('sha256', plan.signed.secret).update(body).digest('hex');
    }
    return { ...item, headers, ...(body === undefined ? {} : { body }) };
  };
  return new Promise((resolve, reject) => {
    const options: autocannon.Options = {
      url: order.url,
      connections: order.connections,
      duration: order.seconds,
      timeout: 20,
      requests: isFixed ? fixed : [{ ...made(), setupRequest: made }],
      // Connections begin at different places of the list, otherwise all would read the same row at once.
      ...(isFixed
        ? {
            setupClient: (client: autocannon.Client) => {
              const from = Math.floor((next++ * fixed.length) / order.connections) % fixed.length;
              client.setRequests([...fixed.slice(from), ...fixed.slice(0, from)]);
            },
          }
        : {}),
      ...(order.rate === undefined ? {} : { overallRate: order.rate }),
    };
    const run = autocannon(options, (error: Error | null, result) => {
      if (error) reject(error);
      else {
        const others = Object.values(statuses).reduce((sum, count) => sum + count, 0);
        resolve({
          seconds: result.duration,
          requests: good,
          failures: others + result.errors,
          statuses,
          latencies: counter.buckets(),
        });
      }
    });
    run.on('response', (_client, status, _bytes, ms) => {
      counter.add(ms);
      if (status >= 200 && status < 300) good += 1;
      else statuses[status] = (statuses[status] ?? 0) + 1;
    });
  });
}

answerQuestions<LoadOrder>(send);

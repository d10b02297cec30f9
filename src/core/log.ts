import { type DestinationStream, type Logger, pino } from 'pino';
import { SECOND_MS } from './clock.ts';
import type { LogLevel } from './env.ts';
import type { LogFiles } from './log-files/log-files.ts';
import { openLogOutput } from './log-output.ts';
import { createRedactor, type Redactor } from './redaction.ts';

export type { Logger };

/** One JSON object a line, or the package that writes text for people. */
export type LogFormat = 'json' | typeof import('pino-pretty');

/** @param name of `LOG_FORMAT`; the package of `pretty` is for people at a terminal only, so it is loaded for them alone */
export async function loadLogFormat(name: 'json' | 'pretty'): Promise<LogFormat> {
  return name === 'json' ? name : (await import('pino-pretty')).default;
}

export interface LoggerOptions {
  level: LogLevel;
  /** Of `loadLogFormat`. */
  format: LogFormat;
  /** Knows the secrets; code that reads new secrets at run time registers them here. */
  redactor?: Redactor;
  /** Where lines go; standard output unless given. */
  stream?: DestinationStream;
  /** Gets every line as well, masked. */
  files?: Pick<LogFiles, 'write'>;
}

const STANDARD_OUTPUT = 1;

function prettyStream({ PinoPretty }: Exclude<LogFormat, 'json'>, stream: DestinationStream | undefined): DestinationStream {
  const options = {
    colorize: stream === undefined,
    ignore: 'service',
    translateTime: 'UTC:yyyy-mm-dd HH:MM:ss.l',
    singleLine: true,
  };
  if (stream === undefined) return PinoPretty({ ...options, destination: STANDARD_OUTPUT, sync: false });
  const format = PinoPretty.prettyFactory(options);
  return { write: (line) => stream.write(format(line)) };
}

/** `pino.stdTimeFunctions.isoTime`, which makes the whole text for each line, with the text of the second kept. */
export function isoTime(now: () => number = Date.now): () => string {
  let second = Number.NaN;
  let start = '';
  return () => {
    const time = now();
    const current = Math.floor(time / SECOND_MS);
    if (current !== second) {
      second = current;
      start = `,"time":"${new Date(current * SECOND_MS).toISOString().slice(0, -'000Z'.length)}`;
    }
    return `${start}${String(time - current * SECOND_MS).padStart(3, '0')}Z"`;
  };
}

/**
 * The service's logger. Secrets are blanked twice: by key in every logged object and binding, then by value and shape in the
 * finished line, so neither a nested field nor the message or stack of an error can contain one.
 */
export function createLogger(options: LoggerOptions): Logger {
  const redactor = options.redactor ?? createRedactor();
  const scrubbed = (object: object): Record<string, unknown> => redactor.value(object) as Record<string, unknown>;
  const { format } = options;
  const stream = format === 'json' ? (options.stream ?? openLogOutput(STANDARD_OUTPUT)) : prettyStream(format, options.stream);
  const logger = pino(
    {
      level: options.level,
      base: { service: 'subscription-service' },
      timestamp: isoTime(),
      formatters: { level: (label) => ({ level: label }), log: scrubbed },
      // Errors are plain objects by the time serializers run; pino's own would rename them.
      serializers: { err: (error: unknown) => error },
      hooks: {
        streamWrite: (line) => {
          const masked = redactor.text(line);
          options.files?.write(masked);
          return masked;
        },
      },
    },
    stream,
  );
  // pino does not run formatters over the bindings of a child; children inherit this `child` from their parent.
  const child: (this: Logger, bindings: object, childOptions?: object) => Logger = logger.child;
  return Object.assign(logger, {
    child(this: Logger, bindings: object, childOptions?: object): Logger {
      return child.call(this, scrubbed(bindings), childOptions);
    },
  });
}

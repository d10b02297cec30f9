import { basename, join, resolve } from 'node:path';
import type { App } from '../../../core/app.ts';
import type { LogFiles } from '../../../core/log-files/log-files.ts';
import { storeOf } from '../../settings/settings-store.ts';

/** A file below `LOG_ROOT`. */
export interface LogPath {
  /** As the settings name it: relative to `LOG_ROOT`. */
  name: string;
  absolute: string;
}

/** Folders of the rotation, below `LOG_DIR`. */
const CURRENT = 'current';
const ARCHIVE = 'archive';

/** The settings that decide where logs are; their formats exclude every path out of `LOG_ROOT`. */
const PATH_SETTINGS = [
  ...(['LOG_FILE', 'LOG_DIR', 'LOG_INFO_FILE', 'LOG_WARNING_FILE', 'LOG_ERROR_FILE', 'LOG_PAYMENTS_FILE'] as const),
  ...(['LOG_ROTATION_ENABLED', 'TIMEZONE'] as const),
];

/** The file with every record: `LOG_FILE`, or with rotation a file of that name in `LOG_DIR/current` (spec 06 section 8). */
export function systemLogPath(app: Pick<App, 'settings' | 'env'>): LogPath {
  const { settings } = app;
  const file = settings.get('LOG_FILE');
  const name = settings.get('LOG_ROTATION_ENABLED') ? `${settings.get('LOG_DIR')}/${CURRENT}/${basename(file)}` : file;
  return { name, absolute: inRoot(app, name) };
}

/** Folders of the rotation, absolute. */
export function rotationFolders(app: Pick<App, 'settings' | 'env'>): { current: string; archive: string } {
  const folder = inRoot(app, app.settings.get('LOG_DIR'));
  return { current: join(folder, CURRENT), archive: join(folder, ARCHIVE) };
}

function inRoot({ env }: Pick<App, 'env'>, name: string): string {
  return resolve(env.logRoot, name);
}

/** Writes the log files where the settings say, from now on and after each change of them. @returns a function that ends it */
export function followLogSettings(app: App, files: LogFiles): () => void {
  const { settings } = app;
  files.onProblem = ({ err, file, dropped }) => app.log.warn({ err, file, dropped }, 'a log file could not be written');
  const configure = () => {
    const partPath = (name: string) => join(rotationFolders(app).current, name);
    files.configure({
      main: systemLogPath(app).absolute,
      parts: settings.get('LOG_ROTATION_ENABLED')
        ? {
            info: partPath(settings.get('LOG_INFO_FILE')),
            warning: partPath(settings.get('LOG_WARNING_FILE')),
            error: partPath(settings.get('LOG_ERROR_FILE')),
            payments: partPath(settings.get('LOG_PAYMENTS_FILE')),
          }
        : null,
      timeZone: settings.get('TIMEZONE'),
    });
  };
  configure();
  return storeOf(app).onChange(PATH_SETTINGS, configure);
}

import type { App } from '../../core/app.ts';
import { isBackupLocation } from './backup-location.ts';
import type { SettingKey } from './catalogue/catalogue.ts';

/** A language without its region, `ru` of `ru-RU`. */
const codeOf = (language: string) => language.trim().toLowerCase().split('-')[0] ?? '';
const codesOf = (list: string) => list.split(',').map(codeOf).filter(Boolean);

/**
 * What a value that is written must be besides its type and format (spec 10 O6 and O10). Rows that were stored earlier and the environment are
 * read leniently: a service that runs must go on running after an update.
 * @returns the text that completes "Value must be ..."; null when the value is accepted
 */
export function valueProblem(app: App, key: SettingKey, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  switch (key) {
    case 'VERSION_CHECK_REPO':
      return value === '' || /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(value)
        ? null
        : 'the owner and the name of a repository, owner/name';
    case 'AVAILABLE_LANGUAGES':
      return codesOf(value).length > 0 ? null : 'codes of languages separated by commas';
    case 'DEFAULT_LANGUAGE': {
      const offered = codesOf(app.settings.get('AVAILABLE_LANGUAGES'));
      return offered.length === 0 || offered.includes(codeOf(value)) ? null : `one of: ${offered.join(', ')}`;
    }
    case 'SMTP_FROM_NAME':
      return /\p{Cc}/u.test(value) ? 'a text without line breaks and control characters' : null;
    case 'BACKUP_LOCATION':
      return isBackupLocation(app, value) ? null : 'a folder in DATA_DIR or in a folder of BACKUP_ROOTS';
    default:
      return null;
  }
}

/**
 * What a file is, decided by its content alone: neither its name nor its declared type counts (spec 05 section 10, hazards b and d). What
 * is not in this list is nothing that may be stored: HTML, SVG and other markup, programs, scripts, archives of programs, and everything
 * unknown.
 */
import { readImageHeader } from '../../core/images/image-header.ts';
import type { ContentType } from './types.ts';

/** An image beyond this is a trap for whoever decodes it: 4 bytes a pixel. */
const MAX_PIXELS = 50_000_000;
const MAX_SIDE = 20_000;

/** Null when the content is none of the allowed ones. */
export function contentTypeOf(content: Buffer): ContentType | null {
  return imageType(content) ?? videoType(content) ?? documentType(content);
}

const STORED_TYPES: readonly (ContentType & { isStartOf: (head: Buffer) => boolean })[] = [
  { mime: 'image/png', extension: 'png', family: 'image', isStartOf: (head) => starts(head, '\x89PNG') },
  { mime: 'image/jpeg', extension: 'jpg', family: 'image', isStartOf: (head) => starts(head, '\xff\xd8\xff') },
  { mime: 'image/gif', extension: 'gif', family: 'image', isStartOf: (head) => starts(head, 'GIF8') },
  { mime: 'image/webp', extension: 'webp', family: 'image', isStartOf: (head) => starts(head, 'WEBP', 8) },
  { mime: 'video/mp4', extension: 'mp4', family: 'video', isStartOf: (head) => starts(head, 'ftyp', 4) },
  { mime: 'video/quicktime', extension: 'mov', family: 'video', isStartOf: (head) => starts(head, 'ftyp', 4) },
  { mime: 'video/webm', extension: 'webm', family: 'video', isStartOf: (head) => starts(head, '\x1a\x45\xdf\xa3') },
  // What follows is never shown in place, whatever it has become.
  ...(
    [
      ['application/pdf', 'pdf'],
      ['application/gzip', 'gz'],
      ['application/zip', 'zip'],
      ['text/plain', 'txt'],
      ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
      ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
    ] as const
  ).map(([mime, extension]) => ({ mime, extension, family: 'document' as const, isStartOf: () => true })),
];

/**
 * The type of a stored file by what was found when it was stored and by its first 16 bytes now, so that it need not be read for a part of it: the
 * storage may have been changed since. Null when it begins as something else.
 */
export function storedTypeOf(mime: string | null, head: Buffer): ContentType | null {
  const type = STORED_TYPES.find((known) => known.mime === mime);
  return type?.isStartOf(head) ? { mime: type.mime, extension: type.extension, family: type.family } : null;
}

const starts = (content: Buffer, bytes: string, at = 0) =>
  content.length >= at + bytes.length && content.toString('latin1', at, at + bytes.length) === bytes;

function imageType(content: Buffer): ContentType | null {
  const header = readImageHeader(content) ?? readGif(content);
  if (header === null) return null;
  const { format, width, height } = header;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) return null;
  return { mime: `image/${format}`, extension: format === 'jpeg' ? 'jpg' : format, family: 'image' };
}

function readGif(content: Buffer): { format: 'gif'; width: number; height: number } | null {
  if (!/^GIF8[79]a/.test(content.toString('latin1', 0, 6)) || content.length < 13) return null;
  const [width, height] = [content.readUInt16LE(6), content.readUInt16LE(8)];
  return width > 0 && height > 0 ? { format: 'gif', width, height } : null;
}

/** Brands of MP4 files with video; others of the same container are pictures (HEIC, AVIF) or sound. */
const MP4_BRAND = /^(?:iso[m2-9]|mp4[12]|avc1|M4V |MSNV|dash|3g[p2].)$/;

function videoType(content: Buffer): ContentType | null {
  if (starts(content, 'ftyp', 4) && content.length >= 16) {
    const brand = content.toString('latin1', 8, 12);
    if (brand === 'qt  ') return { mime: 'video/quicktime', extension: 'mov', family: 'video' };
    return MP4_BRAND.test(brand) ? { mime: 'video/mp4', extension: 'mp4', family: 'video' } : null;
  }
  if (starts(content, '\x1a\x45\xdf\xa3') && content.subarray(0, 64).includes('\x42\x82\x84webm', 0, 'latin1')) {
    return { mime: 'video/webm', extension: 'webm', family: 'video' };
  }
  return null;
}

function documentType(content: Buffer): ContentType | null {
  const document = (mime: string, extension: string): ContentType => ({ mime, extension, family: 'document' });
  if (/^%PDF-[12]\.\d/.test(content.toString('latin1', 0, 8))) return document('application/pdf', 'pdf');
  if (starts(content, 'PK\x03\x04')) return archiveType(content);
  if (starts(content, '\x1f\x8b\x08')) return document('application/gzip', 'gz');
  return isPlainText(content) ? document('text/plain', 'txt') : null;
}

const OFFICE = 'application/vnd.openxmlformats-officedocument.';
/** Entries by which an archive is a program, or an office file with macros. Names in an archive are not compressed. */
const ACTIVE_ENTRIES = ['META-INF/MANIFEST.MF', 'AndroidManifest.xml', 'classes.dex', 'vbaProject.bin', '.app/Info.plist'];

function archiveType(content: Buffer): ContentType | null {
  if (ACTIVE_ENTRIES.some((entry) => content.includes(entry, 0, 'latin1'))) return null;
  const has = (entry: string) => content.includes(entry, 0, 'latin1');
  if (has('word/document.xml')) return { mime: `${OFFICE}wordprocessingml.document`, extension: 'docx', family: 'document' };
  if (has('xl/workbook.xml')) return { mime: `${OFFICE}spreadsheetml.sheet`, extension: 'xlsx', family: 'document' };
  return { mime: 'application/zip', extension: 'zip', family: 'document' };
}

/** UTF-8 without control characters that is neither markup nor a script. */
function isPlainText(content: Buffer): boolean {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return false;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
  if (/[\x00-\x08\x0b\x0e-\x1f\x7f]/.test(text)) return false;
  return !/^\s*(?:<|#!|%!)/.test(text) && !/<(?:script|html|svg|iframe|!doctype)\b/i.test(text);
}

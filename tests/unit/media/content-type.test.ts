import { describe, expect, test } from 'vitest';
import { checkContent, safeName } from '../../../src/domain/media/media.ts';
import type { MediaKind } from '../../../src/domain/messaging/ports.ts';
import { aGif, aJpeg, anMp4, aPdf, aPng, aWebm, aWebp, aZip } from '../../support/media-samples.ts';

const text = (value: string) => Buffer.from(value, 'latin1');

const ACCEPTED: [name: string, kinds: readonly MediaKind[], content: Buffer, mime: string][] = [
  ['a PNG', ['photo', 'document'], aPng(), 'image/png'],
  ['a GIF', ['photo', 'document'], aGif(), 'image/gif'],
  ['a JPEG', ['photo', 'document'], aJpeg(), 'image/jpeg'],
  ['a WebP', ['photo', 'document'], aWebp(), 'image/webp'],
  ['an MP4', ['video', 'document'], anMp4(), 'video/mp4'],
  ['a QuickTime film', ['video'], anMp4('qt  '), 'video/quicktime'],
  ['a WebM', ['video'], aWebm(), 'video/webm'],
  ['a PDF', ['document'], aPdf(), 'application/pdf'],
  ['an archive', ['document'], aZip(), 'application/zip'],
  ['a text', ['document'], Buffer.from('Строка журнала: a < b && c > d\n'), 'text/plain'],
  ['a compressed log', ['document'], text('\x1f\x8b\x08\0\0\0\0\0'), 'application/gzip'],
];

describe('by its content a file is', () => {
  test.each(ACCEPTED)('%s', (_name, kinds, content, mime) => {
    for (const kind of kinds) expect(checkContent(kind, content).mime).toBe(mime);
  });
});

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';

/** What an attacker uploads: the kind that is declared, and the content. */
const HOSTILE: [name: string, kind: MediaKind, content: Buffer][] = [
  ['an empty file', 'photo', Buffer.alloc(0)],
  ['a page as a picture', 'photo', text('<!DOCTYPE html><script>alert(1)</script>')],
  ['a page as a document', 'document', text('<html><body onload=alert(1)>')],
  ['a page after blank lines', 'document', text('\n\n   <html><script>alert(1)</script>')],
  ['a page behind a text', 'document', text('Dear support,\n<script>fetch("/steal")</script>')],
  ['a page behind a byte order mark', 'document', text('\xef\xbb\xbf<html></html>')],
  ['an SVG as a picture', 'photo', text(SVG)],
  ['an SVG as a document', 'document', text(SVG)],
  ['an SVG with an XML head', 'document', text(`<?xml version="1.0"?>${SVG}`)],
  [
    'XML with an external entity',
    'document',
    text('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'),
  ],
  ['a shell script', 'document', text('#!/bin/sh\nrm -rf /\n')],
  ['a PostScript program', 'document', text('%!PS-Adobe-3.0\n(/etc/passwd) (r) file')],
  ['a Windows program', 'document', text('MZ\x90\0\x03\0\0\0\x04\0')],
  ['a Linux program', 'document', text('\x7fELF\x02\x01\x01\0')],
  ['a macOS program', 'document', text('\xcf\xfa\xed\xfe\x07\0\0\x01')],
  ['a Java class', 'document', text('\xca\xfe\xba\xbe\0\0\0\x34')],
  ['WebAssembly', 'document', text('\0asm\x01\0\0\0')],
  ['a Java archive', 'document', aZip('META-INF/MANIFEST.MF')],
  ['an Android program', 'document', aZip('AndroidManifest.xml')],
  ['an office file with macros', 'document', aZip('word/vbaProject.bin')],
  ['a picture header and nothing else', 'photo', text('\x89PNG\r\n\x1a\n')],
  ['a page that begins like a GIF', 'photo', text('GIF89a')],
  ['a GIF without an area', 'photo', aGif(0, 5)],
  ['a picture of ten billion pixels', 'photo', aPng(100_000, 100_000)],
  ['a picture of one endless line', 'photo', aPng(30_000, 1)],
  ['a JPEG of 4 billion pixels', 'photo', aJpeg(65_535, 65_535)],
  ['a WebP of 200 million pixels', 'photo', aWebp(16_000, 16_000)],
  ['a JPEG without a frame', 'photo', text('\xff\xd8\xff\xe0\0\x02<script>alert(1)</script>')],
  ['a video as a picture', 'photo', anMp4()],
  ['a HEIC picture as a video', 'video', anMp4('heic')],
  ['a picture as a video', 'video', aPng()],
  ['a Matroska file with another name for its type', 'video', text('\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska')],
  ['a Flash film', 'document', text('FWS\x09\0\0\0\0')],
  ['a database', 'document', text('SQLite format 3\0\x10\0')],
  ['a shortcut of Windows', 'document', text('\x4c\0\0\0\x01\x14\x02\0')],
  ['random bytes', 'document', Buffer.from('8f1c00e3d77a9b40fe', 'hex')],
];

describe('spec 05 section 10, hazards b and d: nothing is stored of', () => {
  test('at least thirty kinds', () => expect(HOSTILE.length).toBeGreaterThanOrEqual(30));

  test.each(HOSTILE)('%s', (_name, kind, content) => {
    expect(() => checkContent(kind, content)).toThrowError(
      expect.objectContaining({
        status: 400,
        message: expect.stringMatching(/^(?:File is empty|Invalid (?:image|video|document) type\. Allowed: )/),
      }),
    );
  });
});

describe('the name of a download', () => {
  test.each([
    ['photo.png', 'photo.jpg'],
    ['report.final.exe', 'report.final.jpg'],
    ['../../etc/passwd', 'etc_passwd.jpg'],
    ['invoice\u202Egpj.exe', 'invoice_gpj.jpg'],
    ['a"; filename="b.html', 'a_ filename_b.jpg'],
    ['line\r\nSet-Cookie: x=1', 'line_Set-Cookie_ x_1.jpg'],
    ['.htaccess', 'upload.jpg'],
    ['', 'upload.jpg'],
    ['...', 'upload.jpg'],
    ['Отчёт за май.pdf', 'Отчёт за май.jpg'],
    [`${'n'.repeat(300)}.png`, `${'n'.repeat(100)}.jpg`],
  ])('of %j is %j', (given, name) => expect(safeName(given, { extension: 'jpg' })).toBe(name));
});

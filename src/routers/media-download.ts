import { type FileReply, fileReply } from '../core/http/replies.ts';
import type { Download } from '../domain/media/read-media.ts';
import { DOWNLOAD_HEADERS } from '../domain/media/rules.ts';

/** A stored file as an answer. @param cacheControl null = no header */
export function downloadReply({ name, mime, content, isInPlace }: Download, cacheControl: string | null): FileReply {
  return fileReply({
    filename: name,
    contentType: mime === 'text/plain' ? 'text/plain; charset=utf-8' : mime,
    body: content,
    acceptsRanges: true,
    inline: isInPlace,
    headers: { ...DOWNLOAD_HEADERS, ...(cacheControl === null ? {} : { 'cache-control': cacheControl }) },
  });
}

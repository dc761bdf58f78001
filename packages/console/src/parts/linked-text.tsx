import { plainText, splitLinks } from '../format/text.ts';

/** Text of an agent or requester: text nodes, and http(s) addresses as links that tell nothing. */
export function LinkedText({ text }: { text: string }) {
  return splitLinks(plainText(text)).map((piece, index) =>
    piece.href === undefined ? (
      piece.text
    ) : (
      <a
        // Pieces never move within one text.
        // biome-ignore lint/suspicious/noArrayIndexKey: the position is the identity.
        key={index}
        href={piece.href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="text-accent underline underline-offset-2"
      >
        {piece.text}
      </a>
    ),
  );
}

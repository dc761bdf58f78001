import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import { Children, createContext, type ReactNode, use } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import { plainText } from '../../format/text.ts';
import { keepReachable } from '../page/scroll-box.tsx';
import { LinkedText } from './linked-text.tsx';

interface MarkdownBodyProps {
  text: string;
  /** Whether addresses are links. */
  hasLinks: boolean;
}

/** Markdown as elements. HTML in it stays text. Use `Markdown`, which loads this on demand. */
export function MarkdownBody({ text, hasLinks }: MarkdownBodyProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 leading-[1.375rem] wrap-anywhere">
      <HasLinks value={hasLinks}>
        <ReactMarkdown remarkPlugins={plugins} components={components}>
          {text}
        </ReactMarkdown>
      </HasLinks>
    </div>
  );
}

const HasLinks = createContext(true);

const plugins: NonNullable<Options['remarkPlugins']> = [addTables];

/** Of GitHub's additions to Markdown, tables only: the others turn plain text into links. */
function addTables(this: { data(): object }) {
  const data = this.data();
  Object.assign(data, {
    micromarkExtensions: [gfmTable()],
    fromMarkdownExtensions: [gfmTableFromMarkdown()],
  });
}

interface WithChildren {
  children?: ReactNode;
}

const components: Components = {
  a: AddressedLink,
  table: ({ children }) => (
    <div ref={keepReachable} className="overflow-x-auto">
      <table className="border-collapse text-left text-sm wrap-normal">{children}</table>
    </div>
  ),
  th: ({ children }) => (
    <th className="border bg-well px-2 py-1 font-semibold">{linked(children)}</th>
  ),
  td: ({ children }) => <td className="border px-2 py-1 align-top">{linked(children)}</td>,
  // An image would tell its server who reads the text.
  img: ({ alt, src }) => (
    <span>
      [Image: {alt || 'without a description'}
      {typeof src === 'string' && src !== '' && (
        <>
          , <Linked text={src} />
        </>
      )}
      ]
    </span>
  ),
  // The headings of a text are no headings of the page.
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  p: ({ children }) => <p className="whitespace-pre-line">{linked(children)}</p>,
  strong: ({ children }) => <strong className="font-semibold">{linked(children)}</strong>,
  em: ({ children }) => <em>{linked(children)}</em>,
  ul: ({ children }) => <ul className="grid list-disc gap-1 pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="grid list-decimal gap-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="pl-0.5 [&>*+*]:mt-1">{linked(children)}</li>,
  blockquote: ({ children }) => (
    <blockquote className="grid gap-2 border-l-3 border-line pl-3 text-muted">
      {children}
    </blockquote>
  ),
  pre: ({ children }) => (
    <pre className="rounded-md bg-well px-3 py-2 font-mono text-[0.78125rem] leading-[1.125rem] whitespace-pre-wrap [&>code]:bg-transparent [&>code]:p-0">
      {children}
    </pre>
  ),
  code: ({ children }) => (
    <code className="rounded bg-well px-1 py-0.5 font-mono text-[0.92em]">{children}</code>
  ),
  hr: () => <hr className="my-1 border-line" />,
};

function Heading({ children }: WithChildren) {
  return <p className="mt-1 font-semibold first:mt-0">{linked(children)}</p>;
}

/** The words of a link, and its address, so that no link leads elsewhere than it seems. */
function AddressedLink({ href = '', children }: WithChildren & { href?: string | undefined }) {
  const words = Children.toArray(children);
  const isBare = words.length === 1 && words[0] === href;
  if (isBare) return <Linked text={href} />;
  // The parser has dropped an address that is not safe.
  if (href === '') return children;
  return (
    <>
      {children} (<Linked text={href} />)
    </>
  );
}

/** A text with its addresses as links, where these may be. */
function Linked({ text }: { text: string }) {
  return use(HasLinks) ? <LinkedText text={text} /> : plainText(text);
}

/** Addresses that are written as plain text become links. */
function linked(children: ReactNode): ReactNode {
  return Children.map(children, (child) =>
    typeof child === 'string' ? <Linked text={child} /> : child,
  );
}

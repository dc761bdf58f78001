/**
 * Test vectors for `normalizeRemoteUrl`, published so that other clients compute the same hashes.
 * Rows with the same `normalized` have the same hash; all other hashes differ.
 */
export interface RemoteUrlVector {
  readonly url: string;
  /** The normal form, or null if the URL is rejected. */
  readonly normalized: string | null;
  readonly note: string;
}

type Row = readonly [url: string, note: string];

function alike(normalized: string | null, rows: readonly Row[]): readonly RemoteUrlVector[] {
  return rows.map(([url, note]) => ({ url, normalized, note }));
}

export const remoteUrlVectors: readonly RemoteUrlVector[] = [
  ...alike('github.com/acme/api', [
    ['https://github.com/acme/api.git', 'HTTPS'],
    ['https://github.com/acme/api', 'without .git'],
    ['https://github.com/acme/api/', 'trailing slash'],
    ['https://github.com/acme/api.git//', 'trailing slashes behind .git'],
    ['https://github.com/acme/api/.git', '.git as a directory of its own'],
    ['  https://github.com/acme/api.git\n', 'surrounding white space'],
    ['HTTPS://GitHub.com/Acme/API.GIT', 'upper case, everywhere'],
    ['http://github.com/acme/api.git', 'HTTP'],
    ['https://github.com:443/acme/api.git', "HTTPS's default port"],
    ['http://github.com:80/acme/api.git', "HTTP's default port"],
    ['https://github.com:0443/acme/api.git', 'a port is a number'],
    ['https://github.com:/acme/api.git', 'an empty port is no port'],
    ['https://ada@github.com/acme/api.git', 'a user'],
    ['https://ada:s3cret@github.com/acme/api.git', 'user and password'],
    ['https://ada@acme.dev:s3cret@github.com/acme/api.git', 'the last @ ends the credentials'],
    ['https://github.com/acme/api.git?tab=readme', 'query'],
    ['https://github.com/acme/api#readme', 'fragment'],
    ['https://github.com/acme/api/?a=/b.git#c', 'slashes within query and fragment'],
    ['https://github.com//acme/api', 'more than one slash after the host'],
    ['https://github.com./acme/api', 'the trailing dot of a host, the DNS root'],
    ['ssh://git@github.com/acme/api.git', 'SSH'],
    ['ssh://git@github.com:22/acme/api.git', "SSH's default port"],
    ['ssh://github.com/acme/api', 'SSH without a user'],
    ['git+ssh://git@github.com/acme/api.git', 'the older name of SSH'],
    ['git://github.com/acme/api.git', "Git's own protocol"],
    ['git://github.com:9418/acme/api.git', 'its default port'],
    ['git@github.com:acme/api.git', 'scp form'],
    ['git@github.com:/acme/api.git', 'scp form with an absolute path'],
    ['github.com:acme/api', 'scp form without a user'],
    ['ada:s3cret@github.com:acme/api.git', 'credentials before an scp form'],
    ['deploy@GitHub.com:Acme/Api.git/', 'scp form: another user, upper case, trailing slash'],
    ['[git@github.com:22]:acme/api.git', 'scp form with a port, in brackets'],
    ['github.com/acme/api', 'no scheme: as pasted from a browser'],
    ['ada@github.com/acme/api', 'no scheme, a user'],
  ]),
  ...alike('git.acme.dev:2222/acme/api', [
    ['ssh://git@git.acme.dev:2222/acme/api.git', 'a port that is not the default'],
    ['git@[git.acme.dev:2222]:acme/api.git', 'the same in the scp form'],
    ['https://git.acme.dev:2222/acme/api', 'the scheme does not matter'],
  ]),
  ...alike('git.acme.dev/2222/acme/api', [
    ['git@git.acme.dev:2222/acme/api.git', 'scp form has no port: 2222 is a directory'],
  ]),
  ...alike('github.com:443/acme/api', [
    ['ssh://git@github.com:443/acme/api.git', "443 is not SSH's default"],
    ['http://github.com:443/acme/api.git', "nor HTTP's"],
  ]),
  ...alike('gh-work/acme/api', [
    ['gh-work:acme/api.git', 'an unresolved SSH alias is treated as a host'],
  ]),
  ...alike('github.com/acme/api.git', [
    ['https://github.com/acme/api.git.git', 'only one .git is dropped'],
  ]),
  ...alike('github.com/acme/apigit', [
    ['https://github.com/acme/apigit', 'git without a dot is part of the name'],
  ]),
  ...alike('github.com/acme/api/docs', [['https://github.com/acme/api/docs.git', 'a longer path']]),
  ...alike('github.com/acme//api', [
    ['https://github.com/acme//api.git', 'slashes within the path stay'],
  ]),
  ...alike('github.com/acme/a%20b', [
    ['https://github.com/acme/a%20b.git', 'percent-encoding stays as it is written'],
  ]),
  ...alike('github.com/acme/a%2fb', [
    [
      'https://github.com/acme/a%2Fb.git',
      'an encoded slash is not a slash; its digits become lower case',
    ],
  ]),
  ...alike('github.com/acme/a b', [['git@github.com:acme/a b.git', 'a space within the scp form']]),
  ...alike('git.acme.dev/acme/c#', [
    ['git@git.acme.dev:acme/C#.git', 'the scp form has no fragment'],
  ]),
  ...alike('git.acme.dev/@acme/api', [
    ['git@git.acme.dev:@acme/api.git', 'an @ in the path of an scp form'],
    ['https://git.acme.dev/@acme/api.git', 'and of a URL'],
  ]),
  ...alike('git.acme.dev/~ada/api', [
    ['ssh://git@git.acme.dev/~ada/api.git', 'a home directory on the server'],
    ['git@git.acme.dev:~ada/api.git', 'in the scp form'],
  ]),
  ...alike('[2001:db8::1]/acme/api', [
    ['https://[2001:DB8::1]/acme/api.git', 'IPv6'],
    ['ssh://git@[2001:db8::1]:22/acme/api.git', 'IPv6 with the default port'],
    ['git@[2001:db8::1]:acme/api.git', 'IPv6 in the scp form'],
  ]),
  ...alike('[2001:db8::1]:2222/acme/api', [
    ['ssh://git@[2001:db8::1]:2222/acme/api.git', 'IPv6 with another port'],
  ]),
  ...alike('bücher.example/acme/api', [
    ['https://BÜCHER.example/acme/api.git', 'letters outside ASCII become lower case too'],
  ]),
  ...alike('/srv/git/api', [
    ['/srv/git/api.git', 'a local path'],
    ['/srv/git/api/.git', 'the .git of a clone'],
    ['/SRV/Git/Api/', 'upper case'],
    ['file:///srv/git/api.git', 'the same as a URL'],
    ['file://localhost/srv/git/api.git', 'with the name of this machine'],
  ]),
  ...alike('~/git/api', [['~/git/api.git', "below the user's home directory; not expanded"]]),
  ...alike('c:/repos/api', [
    ['C:\\Repos\\Api.git', 'Windows'],
    ['C:/Repos/Api', 'with slashes'],
    ['file:///C:/Repos/Api', 'as a URL'],
  ]),
  ...alike('server/share/api', [
    ['\\\\Server\\Share\\api.git', 'a Windows network share'],
    ['//server/share/api', 'with slashes'],
    ['file://server/share/api', 'as a URL'],
  ]),
  ...alike(null, [
    ['', 'empty'],
    [' \t\n', 'white space only'],
    ['api', 'one word is neither a URL nor an absolute path'],
    ['./api', 'relative: another repository in every directory'],
    ['..\\api', 'a relative Windows path'],
    ['/', 'no repository'],
    ['https://github.com', 'a host only'],
    ['https://github.com/?acme/api', 'a host and a query'],
    ['git@github.com:', 'scp form of a host only'],
    ['https:///acme/api', 'no host'],
    ['ssh://git@github.com:acme/api.git', 'scp form after a scheme: the port is not a number'],
    ['https://github.com:65536/acme/api', 'a port out of range'],
    ['https://[github.com]/acme/api', 'brackets are for IPv6'],
    ['https://git hub.com/acme/api', 'a space within the host'],
    ['ssh://-oProxyCommand=x/acme/api', 'a host that ssh would read as an option'],
    ['ada:s3cret@github.com/acme/api', 'credentials without a scheme'],
    ['codecommit::us-east-1://api', 'a remote helper'],
    ['https://github.com/acme/a\u0000pi', 'a control character'],
  ]),
];

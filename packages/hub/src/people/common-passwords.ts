/*
 * The most common passwords, from the lists that are published every year. Contains only passwords
 * that the length rule accepts; of words followed by digits, only the word (see
 * `password-rules.ts`).
 */

/** Whole passwords. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  00000000 000000000 0000000000 01012011 01020304 0123456789 0987654321 09876543 11111111
  111111111 1111111111 11112222 11223344 1122334455 112233445566 12121212 1212121212 12123434
  12301230 123123123 123123123123 12312312 12341234 1234512345 123454321 12345654321 1234567890
  12345678910 1234567891 123456789a 123456789q 123456789z 1234567898 12345678a 1234567a 1234567q
  1234567z 123456abc 123456aa 123456as 123456qwe 123456qwerty 1234qwer 1234abcd 1234asdf 123321123
  123321123321 123412341234 123654789 123698745 123789456 12344321 1234554321 123465789 12qwaszx
  12qw34er 12wq12wq 13131313 131313131313 13579246810 135792468 1357924680 13579135 14141414
  142536475869 14253647 147258369 147852369 147896325 14725836 14789632 15151515 159357159
  159753456 159753159 15975346 159159159 16161616 17171717 18181818 19191919 19841984 19851985
  19861986 19871987 19881988 19891989 19901990 19911991 19921992 1a2b3c4d 1a2b3c4d5e 1a2s3d4f
  1q1q1q1q 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5 1qa2ws3ed 1qaz1qaz 1qaz2wsx
  1qaz2wsx3edc 1qazxsw2 1qazzaq1 1qaz@wsx 1qwertyuiop 20002000 20102010 20202020 20212021 20222022
  20232023 20242024 20252025 21212121 22222222 222222222 23232323 23456789 24242424 24681012
  246813579 25252525 25802580 258456258 26262626 27272727 28282828 29292929 2wsx3edc 31415926
  314159265 3141592653 31313131 32323232 321321321 33333333 333333333 36925814 369258147 3edc4rfv
  41414141 42424242 43214321 44444444 444444444 45454545 456123789 456456456 456789123 45678910
  4815162342 48151623 50505050 51505150 51515151 52525252 54321543 543210123 54545454 55555555
  555555555 55667788 56565656 61616161 62626262 65432109 654321654321 66666666 666666666 67676767
  69696969 6969696969 70707070 71717171 74108520 741852963 7418529630 74185296 75395146 753951456
  753159456 77777777 777777777 7777777777 78787878 78945612 789456123 7894561230 789456789
  789789789 80808080 85208520 852456852 87654321 876543210 88888888 888888888 8888888888 89898989
  90909090 91919191 963852741 9638527410 96385274 98765432 987654321 9876543210 987987987 99998888
  99999999 999999999 9999999999 a1234567 a12345678 a123456789 a1b2c3d4 a1b2c3d4e5 a1a1a1a1 a1s2d3f4
  a1s2d3f4g5 aa123456 aa12345678 aaa11111 aaaa1111 ab123456 abc12345 abc123456 abc1234567
  abc123abc abc123456789 abcd12345 abcd123456 abcdef123 abcdef123456 abcde12345 abc123abc123
  admin123456 admin12345 admin@12345 as123456 asd12345 asd123456 asd123asd asdasd123 asdf12345
  asdf1234asdf asdfgh123456 bismillah786 b1234567 c1234567 changeme123456 d1234567 e1234567
  hello12345 hello123456 j1234567 k1234567 letmein12345 love12345 love123456 m1234567
  my_password n1234567 p4ssw0rd12345 pa55word12345 pass1234567 pass12345678 passw0rd12345
  password12345 password123456 password1234567 password12345678 password123456789 q1234567
  q12345678 q123456789 q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 q1q1q1q1 qa1234567 qaz12345 qaz123456
  qaz123wsx qazwsx123456 qazwsx12345 qq123456 qq12345678 qq123456789 qqww1122 qwe12345 qwe123456
  qwe123qwe qwe123qwe123 qweasd123 qweasd12345 qweasdzxc123 qweqwe123 qwer12345 qwer123456
  qwert12345 qwert123456 qwerty12345 qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789
  r1234567 root123456 s1234567 s123456789 secret12345 t1234567 test12345 test123456 test12345678
  user12345 user123456 w1234567 welcome12345 welcome123456 x1234567 z1234567 za123456 zaq12wsx
  zaq1xsw2 zaq1zaq1 zaq123wsx zaqwsx123 zxc12345 zxc123456 zxc123zxc zxcv12345 zxcvbnm12345
  zz123456
  `
    .trim()
    .split(/\s+/),
);

/** Words, phrases and keyboard walks, refused with a short tail of digits and signs too. */
export const commonWords: ReadonlySet<string> = new Set(
  `
  aaaaaaaa abcdefg abcdefgh abcdefghi abcdefghij abcdabcd abcabcabc aaaabbbb access administrator
  administrador admin adminadmin adidas adrian alejandra alejandro alexander alexandra alexis
  america amanda amoremio andrea andrew angela angels animal anthony apple aragorn arsenal ashley
  asdasdasd asdasd asdfasdf asdfgh asdfghjk asdfghjkl asdfjkl asdfqwer asdqwe asdqwezxc
  austin australia autumn babygirl badboy bailey banana baseball basketball batman beautiful
  benjamin bigdaddy billabong bismillah blahblah blessed blink brandon brooklyn buster butterfly
  california cameron carolina caroline champion changeit changeme changemenow changethis charlie
  charlotte cheese chelsea chester chicago chicken chocolate christian christina christine
  christopher cinderella claudia cocacola cocoacola computer computador consumer contrasena
  cookies cooper corvette courtney cowboys cricket crystal daniel danielle database december
  default default1 destiny diablo diamond dolphin dolphins dragon dragonball einstein electric
  elephant elizabeth eminem emmanuel estrella everton explorer facebook falcon fernando ferrari
  firebird fireball fishing florence florida flower flowers football forever forgetmenot formula
  francesco francisco freedom friend friends friendship fuckoff fuckyou gabriel
  gabriela garfield gateway genesis geronimo giovanni giuseppe goldfish google gordon griffin
  guitar hannah happiness happy hardcore harley heather hello hellohello helloworld helpdesk
  hockey hollywood homework hottie hunter iceman icecream iloveyou iloveyouu iloveu iloveme
  iloveyoubaby iloveyousomuch infinity internet isabella jackson january jasmine jennifer jeremiah
  jessica jesuschrist jesus johnny jonathan jordan joshua joseph juventus katherine killer kimberly
  kingkong kingston kissme knight ladybug lamborghini lastochka lauren legend leonardo letmein
  letmeinn letmeinnow letmeinplease liberty liverpool logitech london lovelove lovely loveme
  lovers loveyou loverboy maggie manchester manutd marcus margarita maria marina marlboro martin
  matrix matthew maverick maxwell mercedes metallica mexico michael michelle mickey microsoft
  midnight minecraft mitchell monica monkey monster montana morgan motorola mountain mustang
  myspace mypassword natalie nathan natasha newyork nicholas nicole nintendo nirvana nothing
  november october oliver opensesame orange overlord pakistan pandora pantera paradise parola
  passpass passport passw0rd password passwords passwordpassword passwort password! pass pa55word
  patricia patrick peaches peanut pepper personal peterpan phoenix pokemon politics popcorn
  porsche portugal pretty princess princesa private professional public pumpkin purple pussycat
  qazqaz qazwsx qazwsxedc qazwsxedcrfv qazxsw qazxswedc qqqqqqqq qqqqwwww qweasd qweasdzxc
  qweqweqwe qwerasdf qwerqwer qwert qwerty qwertyqwerty qwertyu qwertyui qwertyuio qwertyuiop
  qwertzuiop qwertz azertyuiop azerty rachel raiders rainbow ranger realmadrid rebecca redsox
  remember ricardo richard robert rockstar rocknroll ronaldo rootroot rosebud runescape russia
  samantha samsung samuel santiago sasuke scooter scorpion sebastian secret secretpassword security
  september service shadow shannon sherlock silver skateboard skywalker slipknot snickers snoopy
  snowball soccer softball something sophie spiderman spongebob spring starwars station steelers
  stephanie steven student summer sunflower sunshine superman superstar supersecret superuser
  support swordfish sweetheart sweety sysadmin systemadmin tennis teacher telephone teamo temppass
  temporary tequiero testing testtest tester test thomas thunder tigger tiffany tinkerbell
  together toor topsecret toyota trinity trustme trustno tweety twilight undertaker unicorn
  united universal unknown valentina valentine vanessa veronica victoria vincent virginia volkswagen
  warcraft webmaster welcome welcomehome whatever whatsup william wilson windows winner winston
  winter wolverine wordpass xxxxxxxx yamaha yankees yellow yourmom zaqwsx zaqxsw zachary zxczxczxc
  zxcvbn zxcvbnm zxcvbnmm asdfghjklzxcvbnm correcthorsebatterystaple signalbox controlplane
  kubernetes docker jenkins github gitlab postgres postgresql mysql oracle ubuntu debian raspberry
  raspberrypi cisco vagrant ansible openstack supervisor operator developer development production
  staging hunter2 iamgroot maythefourth starttrek startrek enterprise monday tuesday wednesday
  thursday friday saturday sunday february march april june july august letmeout opendoor
  `
    .trim()
    .split(/\s+/),
);

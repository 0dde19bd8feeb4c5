#!/usr/bin/env bash
# `make site`: every guide has a page, every link leads somewhere, no marker is left, the folds are there, and nothing is
# loaded from elsewhere. A handout has the pages of its own steps, and nothing else.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make python3
[[ -d $source_dir/solutions ]] || skip "a handout has its pages already"
make_temp
unset OUT
lab="$temp/the lab"
copy_tree "$lab"
export LAB_BUILD_DIR="$temp/the build"
site=$LAB_BUILD_DIR/site

# Without the program that reads Markdown one line says so.
mkdir -p "$temp/bin"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$temp/bin/python3"
run /usr/bin/env PATH="$temp/bin" python3 "$lab/scripts/publish/website.py"
expect_status 77 "no cmark-gfm"
[[ $said == $'\nwebsite.py: cmark-gfm, which reads Markdown, is missing: package cmark-gfm' ]] || show "no cmark-gfm"
[[ ! -e $site ]] || fail "no cmark-gfm: there is a folder"
need cmark-gfm

cat >"$temp/look.py" <<'END'
"""look.py SITE LAB: what is wrong with the pages of a lab."""
import html.parser
import pathlib
import re
import sys

VOID = {"meta", "link", "br", "img", "hr", "input"}
site, lab = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
wrong = []


class Look(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.folds, self.words, self.shown = [], [], [], [], 0, "", ""

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "iframe", "object"):
            self.wrong.append(f"has a {tag}")
        self.folds += tag == "details"
        if "id" in of:
            self.ids.append(of["id"])
        if tag == "table" and "wide" not in self.table_box:
            self.wrong.append("a table has no box to scroll in")
        self.table_box = of.get("class", "")
        for name in ("src", "href", "srcset", "data"):
            if name not in of or of[name].startswith("data:"):
                continue
            if re.match(r"[a-z]+:", of[name]):
                if tag != "a":
                    self.wrong.append(f"loads {of[name]}")
            else:
                self.links.append(of[name])

    table_box = ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes something else (line {self.getpos()[0]})")

    def handle_comment(self, data):
        self.wrong.append(f"has a comment: {data[:60]}")

    def handle_data(self, data):
        self.words += data
        if not {"pre", "code", "title"} & set(self.open):
            self.shown += data


looks = {}
for path in sorted(site.rglob("*.html")):
    look = looks[path.resolve()] = Look()
    look.feed(path.read_text(encoding="utf-8"))
    look.close()
for path, look in looks.items():
    name = path.relative_to(site.resolve())
    said = look.wrong + [f"<{tag}> is never closed" for tag in look.open]
    if name.name == "report.html":
        continue
    if len(set(look.ids)) != len(look.ids):
        said.append("an id is there twice")
    for left in re.findall(r"<!--|-->|<details|<summary|\]\([^)]*\)|\*\*|^\|.*\|$|[a-z]+:(?:begin|end)\b", look.shown,
                           flags=re.MULTILINE):
        said.append(f"shows {left}")
    for link in look.links:
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.is_file() or site.resolve() not in target.parents:
            said.append(f"{link} leads nowhere")
        elif anchor and target in looks and anchor not in looks[target].ids:
            said.append(f"{link}: there is no such section")
    wrong += [f"{name}: {what}" for what in said]

# Each guide has a page, with its folds and the words of its headings, and links to its neighbours.
guides = [line.split("\t")[0] for line in (lab / "lab/steps.tsv").read_text().splitlines() if line[:1].isdigit()]
row = ["index.html", "exercises/index.html", *(f"exercises/{guide}/index.html" for guide in guides)]
for at, name in enumerate(row):
    path = (site / name).resolve()
    if path not in looks:
        wrong.append(f"{name} is missing")
        continue
    text = (lab / name.replace("index.html", "README.md")).read_text(encoding="utf-8")
    if looks[path].folds != len(re.findall("^<details>", text, flags=re.MULTILINE)):
        wrong.append(f"{name}: has {looks[path].folds} folds")
    for near in row[max(0, at - 1):at + 2]:
        if not any((path.parent / link).resolve() == (site / near).resolve() for link in looks[path].links):
            wrong.append(f"{name}: no link to {near}")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
look() { # look WHAT SITE LAB
  python3 "$temp/look.py" "$2" "$3" >"$temp/wrong" 2>&1 || fail "$1" "$(<"$temp/wrong")"
}

# A guide has all that may be in one.
guide=exercises/04_jacobi_kernel/README.md
cat >>"$lab/$guide" <<'END'

## A section & its `code`
<!--= ladder["04"].ms | ms -->57.7 ms<!--=--> begin this line, and [this](#a-section--its-code) is itself.
See [goals.cpp](../../validate/goals/goals.cpp) and [the tracer](../../lab/trace/README.md#readme).

<details><summary>What `make trace` prints</summary>

```
a < b, <!-- no comment -->, <details>
```

</details>
END
sed -i 's/ *\[the tracer\](\([^)]*\)#readme)/ [the tracer](\1)/' "$lab/$guide"
run make_in "$lab" site
expect_status 0 "make site"
expect "^$site/index.html: [0-9]+ pages with the report\$" "make site"
look "make site" "$site" "$lab"
[[ $(ls -A "$LAB_BUILD_DIR") == site ]] || fail "make site leaves files:" "$(ls -A "$LAB_BUILD_DIR")"
page=$site/exercises/04_jacobi_kernel/index.html
# has REGEX WHAT: the page has such a line.
has() { grep -qE -- "$1" "$page" || fail "$2: there should be '$1'"; }
has '^<p>57\.7 ms begin this line, and <a href="#a-section--its-code">this</a> is itself\.$' "a number at the beginning"
has '^See goals\.cpp and <a href="../../lab/trace/index\.html">the tracer</a>\.</p>$' "links to a file and to a page"
has '^<details><summary>What <code>make trace</code> prints</summary>$' "a summary"
has '^<pre><code>a &lt; b, &lt;!-- no comment --&gt;, &lt;details&gt;$' "code"
has 'aria-current="page" title="04_jacobi_kernel: ' "the links at the top"
has '<a class="picture" href="../pictures/page_migration.svg"><img src="../pictures/page_migration.svg" alt="[A-Z]' "a picture"
has '<link rel="stylesheet" href="../../style.css">' "its style"
for page in "$site/index.html" "$site/exercises/index.html"; do
  has '<a href="(exercises/)?TEACHING\.html">' "the teachers' page"
done

# Written anew it is the same, with nothing left of pages that are gone.
cp -r "$site" "$temp/first"
rm "$temp/first/report.html"
touch "$site/old.html"
run make_in "$lab" site
expect_status 0 "once more"
expect_status 0 "once more"
rm "$site/report.html"
diff -r "$temp/first" "$site" || fail "the same texts make other pages"

# The looking itself: each of these is noticed.
while IFS='|' read -r edit what; do
  rm -rf "$temp/bad"
  cp -r "$temp/first" "$temp/bad"
  touch "$temp/bad/report.html"
  sed -i -E "$edit" "$temp/bad/exercises/04_jacobi_kernel/index.html"
  if python3 "$temp/look.py" "$temp/bad" "$lab" >"$temp/wrong"; then fail "sed '$edit': is not noticed"; fi
  grep -q "^exercises/04_jacobi_kernel/index.html: $what" "$temp/wrong" || fail "sed '$edit'" "$(<"$temp/wrong")"
done <<'END'
s;<h2 id="task">;<!-- measured:begin -->&;|has a comment:  measured:begin
s;<h2 id="task">;**&;|shows \*\*
s;href="../05_copy_kernel/;href="../05_gone/;|../05_gone/index.html leads nowhere
s;href="#task";href="#tasks";|#tasks: there is no such section
s;<details>;<div>;|</details> closes something else
s;href="../../style.css";href="https://example.org/a.css";|loads https://example.org/a.css
s;<div class="wide">;<div>;|a table has no box
END
rm -rf "$temp/bad/exercises/04_jacobi_kernel"
if python3 "$temp/look.py" "$temp/bad" "$lab" >"$temp/wrong"; then fail "a guide without a page is not noticed"; fi

# Bad input.
mkdir "$temp/folder"
echo "a file" >"$temp/folder/file"
LAB_BUILD_DIR=$temp/folder/file run "$lab/scripts/publish/website.py"
expect_status 1 "a place where nothing can be written"
expect '^website.py: .*/folder/file/\.site\.partial: Not a directory$' "a place where nothing can be written"
printf '%s\n' '' '![Words](../pictures/none.svg)' >>"$lab/$guide"
run make_in "$lab" site
expect '^website.py: .*/exercises/pictures/none.svg: No such file or directory$' "a picture that is not there"
[[ -f $site/index.html && ! -e ${site%/*}/.site.partial ]] || fail "a failure should leave the old pages, and nothing else"

# A handout has the pages of its own texts.
make_clone "$temp/clone"
run env UPTO=04 OUT="$temp/handed out" "$temp/clone/scripts/publish/handout.sh"
expect_status 0 "make handout"
expect_no 'no pages for a browser' "make handout"
handout="$temp/handed out/jacobi-porting-lab-upto-04"
look "make handout" "$handout/site" "$handout"
(cd "$handout/site" && find . -name '*.html' -o -name '[0-9]*' | sort) >"$temp/has"
if grep -vE '^\./(index|exercises/(index|FROM_PROFILE_TO_STEP)|exercises/0[0-4]_[a-z_]+(/index)?|exercises/clinic(/[a-z_]+)?(/index)?|lab/[a-z]+/index|results/index)(\.html)?$' \
  "$temp/has" >"$temp/more"; then
  fail "a handout up to 04 has other pages:" "$(<"$temp/more")"
fi
# What stands in a page stands in its text, or in the title of another one.
for page in "$handout"/site/exercises/0*/index.html; do
  text=${page#"$handout/site/"}
  { cat "$handout/${text%index.html}README.md" && head -q -n 1 "$handout"/exercises/{,0*/}README.md; } |
    cat - <(echo Start Course Steps Previous Next) | grep -oE '[A-Za-z_]{3,}' | sort -u >"$temp/known"
  sed 's/<[^>]*>/ /g; s/&[a-z]*;/ /g' "$page" | grep -oE '[A-Za-z_]{3,}' | sort -u | comm -23 - "$temp/known" >"$temp/more"
  [[ ! -s $temp/more ]] || fail "$text: has words of no text:" "$(<"$temp/more")"
done
run make_in "$handout"
expect '^All pages for a browser: site/index\.html$' "make in a handout"
expect_no '^  make site ' "make in a handout"
run make_in "$handout" site
said_one_line '^make site: a handout has its pages in site/; make guide STEP=NN prints a guide here$' "make site in a handout"
# Without the program there are none, and the handout says so.
for tool in awk basename bash cat chmod cmp comm cut date df diff dirname env find git grep gzip head ln ls mkdir mktemp mv \
  nproc readlink rm sed sh sha256sum sort tail tar timeout tr wc xargs cp; do
  ln -s "$(command -v $tool)" "$temp/bin/$tool"
done
run /usr/bin/env PATH="$temp/bin" UPTO=04 YES=1 OUT="$temp/handed out" "$temp/clone/scripts/publish/handout.sh"
expect_status 0 "a handout without cmark-gfm"
expect '^  On this machine python3 or cmark-gfm is missing, so it has no pages for a browser\.$' "a handout without cmark-gfm"
[[ -f $handout/README.md && ! -e $handout/site ]] || fail "a handout without cmark-gfm"

finish "$(find "$temp/first" -name '*.html' | wc -l) pages, and those of a handout"

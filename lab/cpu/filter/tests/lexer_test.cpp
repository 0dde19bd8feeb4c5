#include "lexer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using cuda_filter::Kind;
using cuda_filter::lex;
using cuda_filter::Token;
using cuda_filter::Tokens;

using Texts = std::vector<std::string>;

Texts texts(const std::string& source) {
  Texts result;
  for (const Token& token : lex(source)) result.emplace_back(token.text);
  return result;
}

/// Each token's line, or its directive's number.
std::vector<int> numbers(const std::string& source, int Token::*number) {
  std::vector<int> result;
  for (const Token& token : lex(source)) result.push_back(token.*number);
  return result;
}

TEST(LexerTest, takes_words_and_punctuation_apart) {
  EXPECT_EQ(texts("a::b->c.d[1]+=e;"),
            (Texts{"a", "::", "b", "->", "c", ".", "d", "[", "1", "]", "+", "=", "e", ";"}));
  EXPECT_EQ(texts("k<<<g, b>>>(x)"),
            (Texts{"k", "<<<", "g", ",", "b", ">", ">", ">", "(", "x", ")"}));
  EXPECT_EQ(texts("a<<b>>c<=d>=e"), (Texts{"a", "<<", "b", ">", ">", "c", "<=", "d", ">=", "e"}));
  EXPECT_EQ(texts("größe_1 $x"), (Texts{"größe_1", "$x"}));
  EXPECT_EQ(texts(""), Texts{});
}

TEST(LexerTest, says_where_a_token_stands) {
  const std::string source = "a\n /* \n */ \"b\\\n\" c // d \\\n e\r\nR\"(\n)\" f";
  const Tokens tokens = lex(source);
  EXPECT_EQ(numbers(source, &Token::line), (std::vector<int>{1, 3, 4, 6, 7}));
  for (const Token& token : tokens) {
    EXPECT_EQ(source.substr(token.offset, token.text.size()), token.text);
  }
}

TEST(LexerTest, leaves_out_comments) {
  EXPECT_EQ(texts("a // b <<< \\\n c\nd"), (Texts{"a", "d"}));
  EXPECT_EQ(texts("a // b \\\r\n c\r\nd"), (Texts{"a", "d"}));
  EXPECT_EQ(texts("a/* it's \" // */b/**/c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(texts("a /* never ends"), Texts{"a"});
  EXPECT_EQ(texts("a // ends the file"), Texts{"a"});
}

TEST(LexerTest, takes_strings_whole) {
  EXPECT_EQ(texts(R"(f("a \" // b", '"', '\'', L"c", u8'd'))"),
            (Texts{"f", "(", R"("a \" // b")", ",", "'\"'", ",", "'\\''", ",", "L\"c\"", ",",
                   "u8'd'", ")"}));
  EXPECT_EQ(texts("\"a\\\r\nb\" c"), (Texts{"\"a\\\r\nb\"", "c"}));
}

TEST(LexerTest, takes_raw_strings_whole) {
  EXPECT_EQ(texts("R\"(a\" \\)\" b"), (Texts{"R\"(a\" \\)\"", "b"}));
  EXPECT_EQ(texts("u8R\"x()\" )\n)x\" b"), (Texts{"u8R\"x()\" )\n)x\"", "b"}));
  EXPECT_EQ(texts("XR\"(a)\" b"), (Texts{"XR", "\"(a)\"", "b"}));
}

TEST(LexerTest, a_quote_that_is_missing_costs_one_line) {
  EXPECT_EQ(texts("it's gone\nb"), (Texts{"it", "'s gone", "b"}));
  EXPECT_EQ(texts("\""), Texts{"\""});
}

TEST(LexerTest, takes_numbers_whole) {
  EXPECT_EQ(texts("1'000'000 0x1'f 1.5e-3f .5+1"),
            (Texts{"1'000'000", "0x1'f", "1.5e-3f", ".5", "+", "1"}));
  EXPECT_EQ(lex("1'0")[0].kind, Kind::kNumber);
}

TEST(LexerTest, numbers_the_directives) {
  const std::string source = "a\n # define b \\\n c /* \n */ d\ne # f\n/* g */ #h\ni";
  EXPECT_EQ(texts(source),
            (Texts{"a", "#", "define", "b", "c", "d", "e", "#", "f", "#", "h", "i"}));
  EXPECT_EQ(numbers(source, &Token::directive),
            (std::vector<int>{0, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2, 0}));
}

TEST(LexerTest, skips_a_byte_order_mark) { EXPECT_EQ(texts("\xEF\xBB\xBF#a"), (Texts{"#", "a"})); }

TEST(LexerTest, matches_brackets) {
  const std::string source = "f(a[1], {b}) }";
  const Tokens tokens = lex(source);
  EXPECT_EQ(cuda_filter::match_forward(tokens, 1), 10u);
  EXPECT_EQ(cuda_filter::match_back(tokens, 10), 1u);
  EXPECT_EQ(cuda_filter::match_back(tokens, 11), tokens.size());
  EXPECT_EQ(cuda_filter::match_forward(lex("( ["), 0), 2u);
}

TEST(LexerTest, finds_the_end_of_a_group) {
  const auto end = [](const std::string& source) {
    const Tokens tokens = lex(source);
    return cuda_filter::group_end(tokens, 0, tokens.size());
  };
  EXPECT_EQ(end("<a<b, c>> d"), 7u);
  EXPECT_EQ(end("<(a > b), c<<d>"), 10u);
  EXPECT_EQ(end("< b ? c : d > e"), 0u);
  EXPECT_EQ(end("< b; c > d"), 0u);
  EXPECT_EQ(end("< b) > c"), 0u);
  EXPECT_EQ(end("< b"), 0u);
  EXPECT_EQ(end("(b[1]) > c"), 5u);
  EXPECT_EQ(end("b > c"), 0u);
}

}  // namespace

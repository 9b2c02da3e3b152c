#include "remote/aws_signature.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sha256.hpp"

namespace tilejit::cache {
namespace {

// The examples of "Signature Calculations for the Authorization Header" in Amazon S3's API
// reference: a partial read of an object, a write, a bucket's lifecycle, a listing.
constexpr const char* kDate = "20130524T000000Z";

AwsIdentity example_identity() {
  return {.access_key = "AKIAIOSFODNN7EXAMPLE",
          .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
          .region = "us-east-1",
          .service = "s3"};
}

struct S3Example {
  const char* name;
  const char* method;
  const char* path;
  const char* query;
  std::vector<Header> more;
  const char* body;
  const char* signed_headers;
  const char* signature;
};

const S3Example kS3Examples[] = {
    {"get object",
     "GET",
     "/test.txt",
     "",
     {{"range", "bytes=0-9"}},
     "",
     "host;range;x-amz-content-sha256;x-amz-date",
     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
    {"put object",
     "PUT",
     "/test%24file.text",
     "",
     {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
     "Welcome to Amazon S3.",
     "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
    {"get lifecycle",
     "GET",
     "/",
     "lifecycle=",
     {},
     "",
     "host;x-amz-content-sha256;x-amz-date",
     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    {"list",
     "GET",
     "/",
     "max-keys=2&prefix=J",
     {},
     "",
     "host;x-amz-content-sha256;x-amz-date",
     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
};

TEST(AwsSignature, GivesTheSignaturesOfTheS3Reference) {
  for (const S3Example& example : kS3Examples) {
    SCOPED_TRACE(example.name);
    const std::string digest = to_hex(sha256(example.body));
    std::vector<Header> headers = {{"x-amz-date", kDate},
                                   {"host", "examplebucket.s3.amazonaws.com"},
                                   {"x-amz-content-sha256", digest}};
    headers.insert(headers.end(), example.more.begin(), example.more.end());
    EXPECT_EQ(
        aws_authorization({.method = example.method,
                           .path = example.path,
                           .query = example.query,
                           .headers = headers,
                           .body_sha256 = digest},
                          example_identity(), kDate),
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=" +
            std::string(example.signed_headers) + ", Signature=" + example.signature);
  }
}

// get-vanilla of AWS's Signature Version 4 test suite.
TEST(AwsSignature, GivesTheSignatureOfTheTestSuite) {
  const AwsIdentity identity{.access_key = "AKIDEXAMPLE",
                             .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                             .region = "us-east-1",
                             .service = "service"};
  const std::string date = "20150830T123600Z";
  const std::string authorization = aws_authorization(
      {.method = "GET",
       .path = "/",
       .query = "",
       .headers = {{"host", "example.amazonaws.com"}, {"x-amz-date", date}},
       .body_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      identity, date);
  EXPECT_EQ(authorization,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(AwsSignature, WritesDatesInUtc) {
  EXPECT_EQ(amz_date(0), "19700101T000000Z");
  EXPECT_EQ(amz_date(1440938160), "20150830T123600Z");
}

TEST(AwsSignature, EncodesPaths) {
  EXPECT_EQ(uri_encode_path("/kernels/v1/ab/ab-._~12.cubin"), "/kernels/v1/ab/ab-._~12.cubin");
  EXPECT_EQ(uri_encode_path("a b+c%/\xc3\xa9{}"), "a%20b%2Bc%25/%C3%A9%7B%7D");
}

}  // namespace
}  // namespace tilejit::cache
